// Makes pages live and lists searchable as people type. Every page is complete
// without it. The stream of a live page is described in the package comment of
// components.

const announcer = document.querySelector("[data-announce]");

function announce(sentence) {
  if (announcer) announcer.textContent = sentence;
}

// What was typed, and which plan was read, outlives a form that is away: while a
// plan is made again there is none.
const typed = new Map();
const plans = new Map();

// What a reader has done to an element outlives its replacement: what is open,
// what was typed, where the cursor is, how far a list was scrolled.
function replace(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const selection = focused && "selectionStart" in focused ? [focused.selectionStart, focused.selectionEnd] : null;
  for (const details of old.querySelectorAll("details[id]")) {
    const twin = fresh.querySelector(`#${CSS.escape(details.id)}`);
    if (twin) twin.open = details.open;
  }
  for (const field of old.querySelectorAll("textarea[id], input[id]")) {
    if (field.value !== field.defaultValue) typed.set(field.id, field.value);
    else typed.delete(field.id);
  }
  for (const field of fresh.querySelectorAll("textarea[id], input[id]")) {
    if (typed.has(field.id)) field.value = typed.get(field.id);
  }
  const scrolled = [...old.querySelectorAll("[data-follow][id]")].map((list) => [list.id, atEnd(list), list.scrollTop]);

  if (digest(old)) plans.set(old.id, digest(old));
  const renewed = digest(fresh) && plans.has(old.id) && plans.get(old.id) !== digest(fresh);
  if (renewed) warnOfNewPlan(fresh);

  old.replaceWith(fresh);

  for (const [id, followed, top] of scrolled) {
    const list = document.getElementById(id);
    if (list) list.scrollTop = followed ? list.scrollHeight : top;
  }
  if (!focused || renewed || document.activeElement === focused) return;
  const twin = focused.id
    ? document.getElementById(focused.id)
    : [...fresh.querySelectorAll(focused.tagName)].find((e) => e.textContent === focused.textContent);
  if (!twin) return;
  twin.focus({ preventScroll: true });
  if (selection && selection[0] !== null) twin.setSelectionRange(...selection);
}

// Nobody may sign what came onto the page between reading and pressing a button.
const renewals = new Map();

function digest(element) {
  return element.querySelector("input[name=planDigest]")?.value;
}

function warnOfNewPlan(fresh) {
  const sentence = "The plan was made again while you looked at it. Read it before you sign.";
  const notice = document.createElement("p");
  notice.className = "notice notice--warn";
  notice.textContent = sentence;
  fresh.querySelector("form")?.before(notice);
  announce(sentence);
  renewals.set(fresh.id, Date.now());
}

addEventListener("submit", (event) => {
  const at = renewals.get(event.target.closest(".column")?.id);
  if (at && Date.now() - at < 3000) event.preventDefault();
});

function atEnd(list) {
  return list.scrollHeight - list.scrollTop - list.clientHeight < 24;
}

function append(old, fresh) {
  const list = old.closest("[data-follow]") || old;
  const follow = atEnd(list);
  old.append(...fresh.childNodes);
  while (old.childElementCount > 500) old.firstElementChild.remove();
  if (follow) list.scrollTop = list.scrollHeight;
}

function apply(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const fresh of [...template.content.children]) {
    const old = document.getElementById(fresh.id);
    if (!old) continue;
    if (fresh.hasAttribute("data-append")) append(old, fresh);
    else if (old.outerHTML !== fresh.outerHTML) replace(old, fresh);
  }
}

function live(element) {
  const words = element.querySelector("[data-live-state]");
  const show = (state, text) => {
    element.dataset.state = state;
    words.textContent = text;
  };
  let retry = 0;

  function connect() {
    const source = new EventSource(element.dataset.liveUrl);
    source.addEventListener("open", () => {
      retry = 0;
      show("live", "Live: this page keeps itself up to date.");
    });
    source.addEventListener("fragment", (event) => apply(event.data));
    source.addEventListener("status", (event) => announce(event.data));
    source.addEventListener("end", () => {
      source.close();
      show("done", "Nothing more will happen here.");
    });
    source.addEventListener("error", () => {
      show("lost", "Not live: the connection is gone.");
      if (source.readyState !== EventSource.CLOSED) return; // the browser tries again itself
      retry += 1;
      if (retry <= 6) setTimeout(connect, 1000 * 2 ** retry);
    });
    addEventListener("pagehide", () => source.close(), { once: true });
  }
  connect();
}

// A search form filters the list that it names. Pressing Enter still asks the
// server, which knows more than the page.
function filter(form) {
  const list = document.getElementById(form.dataset.filter);
  const input = form.querySelector("input[type=search]");
  if (!list || !input) return;
  input.addEventListener("input", () => {
    const terms = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const item of list.querySelectorAll("[data-filter-text]")) {
      const text = item.dataset.filterText.toLowerCase();
      item.hidden = !terms.every((term) => text.includes(term));
      if (!item.hidden) shown += 1;
    }
    announce(shown === 1 ? "1 found." : `${shown} found.`);
  });
}

// A form with a preview asks the server what it makes, shortly after each change.
function preview(form) {
  let timer = 0;
  let latest = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const turn = ++latest;
      const body = new URLSearchParams(new FormData(form));
      body.set("action", "preview");
      for (const secret of form.querySelectorAll("input[type=password]")) body.delete(secret.name);
      try {
        const response = await fetch(form.action, { method: "POST", body });
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        const fresh = page.getElementById(form.dataset.preview);
        const old = document.getElementById(form.dataset.preview);
        if (turn === latest && fresh && old) replace(old, fresh);
      } catch {
        // The button beside the preview does the same.
      }
    }, 400);
  });
}

document.querySelectorAll("[data-live-url]").forEach(live);
document.querySelectorAll("form[data-filter]").forEach(filter);
document.querySelectorAll("form[data-preview]").forEach(preview);
document.querySelectorAll("[data-follow]").forEach((list) => (list.scrollTop = list.scrollHeight));
document.querySelector("[data-focus]")?.focus();
