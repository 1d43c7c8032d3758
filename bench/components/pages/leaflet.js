// Leaflet without tiles: markers with popups, layers to switch, zoom and pan.
import L from "leaflet";
import "leaflet/dist/leaflet.css";
import pin from "leaflet/dist/images/marker-icon.png";

const app = document.getElementById("app");
app.style.cssText = "height: 420px; width: 640px; background: #dde";
const icon = L.icon({ iconUrl: pin, iconSize: [25, 41], iconAnchor: [12, 41] });
const map = (window.map = L.map(app, { center: [50, 10], zoom: 4, zoomAnimation: false, fadeAnimation: false, inertia: false }));
const place = (name, at) => L.marker(at, { icon, title: name, alt: name, keyboard: true }).bindPopup(`<b>${name}</b> <a href="#">More about ${name}</a>`);
L.layerGroup([place("Berlin", [52.5, 13.4]), place("Rome", [41.9, 12.5]), place("Paris", [48.8, 2.3])]).addTo(map);
window.rivers = L.polyline([[51, 4], [47, 9]], { color: "blue" });
window.borders = L.polyline([[54, 8], [47, 12]], { color: "red" });
L.control.layers({}, { Rivers: rivers, Borders: borders }, { collapsed: true }).addTo(map);
window.opened = "";
map.on("popupopen", (event) => { window.opened = event.popup.getContent(); });
