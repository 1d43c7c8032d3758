// Clusterize: 5,000 rows, of which 200 are drawn.
import Clusterize from "clusterize.js"; import "clusterize.js/clusterize.css";
const app = document.getElementById("app");
app.innerHTML = '<h2>Rows</h2><div id="scrollArea" class="clusterize-scroll" style="max-height:200px"><table><tbody id="contentArea" class="clusterize-content"></tbody></table></div>';
new Clusterize({ rows: Array.from({length: 5000}, (_, n) => `<tr><td>Ship ${n}</td><td>berth ${n * 7 % 5003}</td></tr>`), scrollId: "scrollArea", contentId: "contentArea" });
