// Tagify: free tags, tags out of a list, one of many.
import Tagify from "@yaireo/tagify";
import "@yaireo/tagify/dist/tagify.css";
document.getElementById("app").innerHTML = `<div style="margin: 24px; width: 420px">
  <p><label for="herbs">Herbs</label><input id="herbs" value="mint,thyme"></p>
  <p><label for="towns">Towns</label><input id="towns" placeholder="pick towns"></p>
  <p><label for="crew">Crew</label><input id="crew" value="Ada"></p></div>`;
window.parts = {
  herbs: new Tagify(document.getElementById("herbs")),
  towns: new Tagify(document.getElementById("towns"), { enforceWhitelist: true, whitelist: ["Bergen", "Cork", "Gdansk", "Malmo", "Porto"], dropdown: { enabled: 0, maxItems: 20 } }),
  crew: new Tagify(document.getElementById("crew"), { mode: "select", whitelist: ["Ada", "Bo", "Cy"], enforceWhitelist: true }),
};
window.tags = (id) => parts[id].value.map((t) => t.value).join();
