// DataTables: search, order, pages, page length over 57 rows.
import $ from "jquery";
import DataTable from "datatables.net-dt";
import "datatables.net-dt/css/dataTables.dataTables.css";

const OFFICES = ["Edinburgh", "London", "New York", "Sidney", "Tokyo"];
const rows = Array.from({ length: 57 }, (_, n) => `<tr><td>Clerk ${n}</td><td>${OFFICES[n % 5]}</td><td>${20 + ((n * 13) % 45)}</td><td><button data-n="${n}">Greet</button></td></tr>`);
document.getElementById("app").innerHTML = `<table id="staff" class="display"><thead><tr><th>Name</th><th>Office</th><th>Age</th><th></th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
window.staff = new DataTable("#staff");
window.greeted = [];
$("#staff").on("click", "button", (event) => { window.greeted.push(Number(event.currentTarget.dataset.n)); });
