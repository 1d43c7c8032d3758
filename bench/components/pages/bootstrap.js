// Bootstrap: a modal with a field, a dropdown, an accordion in a tab, a switch and a range in an offcanvas.
import "bootstrap/dist/css/bootstrap.css";
import "bootstrap";

window.state = { recipient: "", sort: "", code: "", dark: false, size: 50 };
document.getElementById("app").innerHTML = `
<div class="container p-4">
  <button class="btn btn-primary" data-bs-toggle="modal" data-bs-target="#mail">New message</button>
  <div class="modal fade" id="mail" tabindex="-1"><div class="modal-dialog"><div class="modal-content">
    <div class="modal-header"><h5 class="modal-title">New message</h5><button class="btn-close" data-bs-dismiss="modal" aria-label="Close"></button></div>
    <div class="modal-body"><label for="to" class="form-label">Recipient</label><input id="to" class="form-control"></div>
    <div class="modal-footer"><button class="btn btn-secondary" data-bs-dismiss="modal">Discard</button>
      <button class="btn btn-primary" id="send" data-bs-dismiss="modal">Send message</button></div>
  </div></div></div>
  <div class="dropdown d-inline-block"><button class="btn btn-secondary dropdown-toggle" data-bs-toggle="dropdown">Sort by</button>
    <ul class="dropdown-menu"><li><a class="dropdown-item" href="#">Price</a></li><li><a class="dropdown-item" href="#">Newest</a></li></ul></div>
  <button class="btn btn-light" data-bs-toggle="offcanvas" data-bs-target="#prefs">Preferences</button>
  <div class="offcanvas offcanvas-end" id="prefs" tabindex="-1"><div class="offcanvas-header"><h5>Preferences</h5>
    <button class="btn-close" data-bs-dismiss="offcanvas" aria-label="Close"></button></div><div class="offcanvas-body">
    <div class="form-check form-switch"><input class="form-check-input" type="checkbox" role="switch" id="dark"><label class="form-check-label" for="dark">Dark mode</label></div>
    <label for="size" class="form-label">Text size</label><input type="range" class="form-range" id="size" min="0" max="100" step="10"></div></div>
  <ul class="nav nav-tabs mt-4"><li class="nav-item"><button class="nav-link active" data-bs-toggle="tab" data-bs-target="#home">Home</button></li>
    <li class="nav-item"><button class="nav-link" data-bs-toggle="tab" data-bs-target="#help">Help</button></li></ul>
  <div class="tab-content"><div class="tab-pane active" id="home">Welcome home.</div><div class="tab-pane" id="help">
    <div class="accordion" id="faq">${["Delivery", "Refunds", "Vouchers"].map((name, n) => `
      <div class="accordion-item"><h2 class="accordion-header"><button class="accordion-button collapsed" data-bs-toggle="collapse" data-bs-target="#q${n}">${name}</button></h2>
      <div id="q${n}" class="accordion-collapse collapse" data-bs-parent="#faq"><div class="accordion-body">
        <label>${name} code <input class="form-control" id="code${n}"></label> <button class="btn btn-sm btn-outline-primary" data-n="${n}">Apply ${name}</button></div></div></div>`).join("")}
    </div></div></div>
</div>`;
const on = (what, event, act) => document.querySelectorAll(what).forEach((e) => e.addEventListener(event, () => act(e)));
on("#send", "click", () => { window.state.recipient = document.getElementById("to").value; });
on(".dropdown-item", "click", (e) => { window.state.sort = e.textContent; });
on("#dark", "change", (e) => { window.state.dark = e.checked; });
on("#size", "change", (e) => { window.state.size = Number(e.value); });
on("[data-n]", "click", (e) => { window.state.code = document.getElementById(`code${e.dataset.n}`).value; });
