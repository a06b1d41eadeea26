// Runs in every page before its own scripts. It counts what the page waits for, and does what a person does there:
// `robot` fills in forms, presses buttons, waits until the page is at rest, and returns what was found and what went wrong.

(() => {
const { fetch: plain, setTimeout: later, clearTimeout: never } = window;
const PATIENCE = 60_000, SOON = 300, FRAMES = 2, OPENED_AGAIN = 1500;
const soon = new Set(); // timers that end soon: what was typed is checked a moment later
let frame = 0;

Object.assign(window, { waiting: 0, refused: [], asked: 0 });
window.fetch = async (...given) => {
  window.waiting += 1;
  window.asked += 1;
  try {
    const reply = await plain(...given);
    if (reply.status >= 400) window.refused.push(`${reply.status} ${given[1]?.method ?? "GET"} ${given[0]}`);
    else if (given[1]?.method === "POST") reply.clone().json().then((body) => { window.made = body.data?.id ?? window.made; }, () => null);
    return reply;
  } finally { later(() => { window.waiting -= 1; }, 0); }
};
window.setTimeout = (act, delay = 0, ...given) => {
  const id = later(() => { soon.delete(id); act(...given); }, delay);
  if (delay < SOON) soon.add(id);
  return id;
};
window.clearTimeout = (id) => { soon.delete(id); never(id); };

const all = (selector, within = document) => [...within.querySelectorAll(selector)].filter((one) => one.getClientRects().length);
const said = (one) => one?.textContent.trim() ?? "";
const BOX = ":is(.antd-Drawer, .dark-Drawer, .antd-Modal, .dark-Modal)";
const SPINNER = ":is(.antd-Spinner, .dark-Spinner):not(.antd-Spinner--hidden, .dark-Spinner--hidden)";

/** Whether a form or question is closed, or moves out of sight. */
const closed = (box) => !box.isConnected || !box.getClientRects().length || box.querySelector(":scope > .out") !== null;

const drawing = () => new Promise((resolve) => requestAnimationFrame(() => { frame += 1; resolve(); }));

/** Wait until `condition` holds, and look at every frame that is drawn. */
async function until(condition, what) {
  for (const end = performance.now() + PATIENCE; performance.now() < end; await drawing()) {
    const found = condition();
    if (found) return found;
  }
  const faults = all("[class*=-Form-item]:is(.has-error, .is-error)").map((one) => `${one.dataset.amisName} ${said(one.querySelector("[class*=-Form-feedback]"))}`);
  throw new Error(`${what}: ${faults.join("; ")} ${said(document.getElementById("notices"))}`);
}

const isQuiet = () => window.waiting === 0 && soon.size === 0 && document.querySelector("main .drawn, main > .notice") && !document.querySelector(SPINNER);

/** Wait until the page is drawn, and has waited for nothing during some frames. */
async function rest() {
  let busy = frame;
  await until(() => {
    if (!isQuiet()) busy = frame;
    return frame - busy >= FRAMES;
  }, "the page does not come to rest");
}

/** Where the buttons of a record are: its page, or its row in a list. */
const around = (row) => row ? all("main tbody tr").find((one) => said(one).includes(row)) : document.querySelector("main");
const top = () => all(BOX).filter((one) => !closed(one) && one.querySelector("form, [class*=-Modal-body]")).at(-1);
const buttonOf = (text, within) => all("button, a, [role=button]", within).find((one) => said(one) === text && !one.disabled);

function type(field, text) {
  const kind = field.tagName === "TEXTAREA" ? HTMLTextAreaElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
  field.dispatchEvent(new FocusEvent("focusout", { bubbles: true }));
}

/** Choose one of what a select offers, counted from 0 or by what it says. One that is drawn anew meanwhile is closed again: it is opened once more. */
async function choose(item, place) {
  let opened = -OPENED_AGAIN;
  const option = await until(() => {
    const offered = all(".antd-Select-option").filter((one) => !one.classList.contains("is-disabled"));
    const found = offered[place] ?? offered.find((one) => said(one).includes(place));
    if (!found && performance.now() - opened > OPENED_AGAIN && !all(".antd-Select-menu").length) {
      (item.querySelector(".antd-Select-valueWrap") ?? item.querySelector(".antd-Select")).click();
      opened = performance.now();
    }
    return found;
  }, `nothing to choose for ${item.dataset.amisName}`);
  (option.querySelector("input[type=checkbox]") ?? option).click();
  await rest();
  if (all(".antd-Select-menu").length) document.querySelector("header strong").click();
  await rest();
}

/** Type a moment or a day into its control, as it shows them. */
async function pickDay(picker, text) {
  picker.click();
  const field = await until(() => picker.querySelector("input"), "no field for a day");
  type(field, text);
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", code: "Enter", keyCode: 13, bubbles: true }));
  await rest();
  all(".antd-DatePicker-popover .antd-Button--primary, .antd-Calendar-sureBtn").at(-1)?.click();
  document.querySelector("header strong").click();
  await rest();
}

/** Fill in one control that must have a value; whether it had to be. */
async function fill(item, values) {
  const combo = item.querySelector(":scope .antd-ComboControl");
  if (combo) {
    if (combo.querySelector(".antd-Form-item")) return false;
    buttonOf("Add", combo)?.click() ?? all("button, a", combo).at(-1).click();
    await until(() => combo.querySelector(".antd-Form-item"), "nothing was added");
    return true;
  }
  const place = item.querySelector(".geo-position");
  if (place) {
    const empty = all("input", place).filter((one) => !one.value);
    for (const one of empty) type(one, "1");
    await drawing();
    return empty.length > 0;
  }
  const select = item.querySelector(".antd-Select");
  if (select) {
    if (select.querySelector(".antd-Select-value")) return false;
    await choose(item, values[item.dataset.amisName] ?? 0);
    return true;
  }
  const picker = item.querySelector(".antd-DatePicker");
  if (picker) {
    if (picker.querySelector("input")?.value || picker.querySelector(".antd-DatePicker-value")) return false;
    await pickDay(picker, values[item.dataset.amisName] ?? "2026-11-20");
    return true;
  }
  const field = item.querySelector("input:not([type=hidden]), textarea");
  if (!field || field.value || field.type === "checkbox") return false;
  type(field, values[item.dataset.amisName] ?? "1");
  await drawing();
  return true;
}

async function fillAll(box, values) {
  for (let round = 0; round < 40; round += 1) {
    let filled = false;
    for (const item of all(".antd-Form-item", box)) {
      const wanted = item.classList.contains("is-required") || item.dataset.amisName in values;
      if (wanted && (await fill(item, values))) { filled = true; break; }
    }
    if (!filled) return;
  }
}

/** Press what confirms the form on top once what was typed has been checked, and wait until the form is gone. */
async function submit(box) {
  await rest();
  all(".antd-Button--primary", box.querySelector(".antd-Drawer-footer, .antd-Modal-footer") ?? box).at(-1).click();
  await until(() => closed(box), "the form stays");
  await rest();
}

async function press(button, row) {
  if (around(row) && !buttonOf(button, around(row))) around(row).querySelector(".acts .opens")?.click();
  (await until(() => around(row) && buttonOf(button, around(row)), `no button ${button}`)).click();
}

async function open({ address, tab }) {
  if (location.hash !== address) await new Promise((resolve) => {
    addEventListener("hashchange", resolve, { once: true });
    location.hash = address;
  });
  await rest();
  if (tab) {
    (await until(() => all("[role=tab], .antd-Tabs-link").find((one) => said(one) === tab), `no tab ${tab}`)).querySelector("a")?.click();
    await rest();
  }
}

// what people read that is not data of records: heads of columns, buttons, tabs, labels of forms, what the page says
const SAID = "th, button, [role=tab], label, .antd-Page-title, .antd-Alert, .antd-Panel-title, .notice";

const steps = {
  rest,
  open,
  /** Open a page of dashboards, and bring each into view, as the renderer draws what is seen. */
  async draw({ address }) {
    await open({ address });
    for (const part of all("main .dashboard")) {
      part.scrollIntoView();
      await until(() => part.querySelector("canvas, .figure"), "a dashboard is not drawn");
    }
    return all("main .dashboard").length;
  },
  /** What the cells of tables and the details of a record show. */
  values: async () => all("main td").map(said),
  /** Open every menu; return their codes, what the pages say, and what their cells show. */
  async walk() {
    const codes = [...document.querySelectorAll("nav a[data-menu]")].map((link) => link.dataset.menu), texts = new Set(), values = new Set();
    for (const code of codes) {
      await steps.draw({ address: `#/${code}` }).catch((error) => { throw new Error(`${code}: ${error.message}`); });
      await until(() => document.querySelector(`nav a[data-menu="${code}"][aria-current=page]`), `${code} is not marked`);
      for (const part of document.querySelectorAll(`main :is(${SAID}), nav a, nav summary`)) texts.add(part.innerText);
      for (const part of document.querySelectorAll("main [placeholder]")) texts.add(part.placeholder);
      for (const value of await steps.values()) values.add(value);
    }
    return { codes, texts: [...texts], values: [...values] };
  },
  async fill({ button, values, row }) {
    await press(button, row);
    const box = await until(top, "no form");
    await rest();
    await fillAll(box, values);
    await submit(box);
    return window.made;
  },
  async change({ button, name, value, row }) {
    await press(button, row);
    const box = await until(top, "no form");
    await rest();
    await until(() => all("input, textarea", box).some((one) => one.value), "the record is not read");
    type(box.querySelector(`[name="${name}"]`), value);
    await submit(box);
  },
  async confirm({ button, row }) {
    await press(button, row);
    const box = await until(top, "nobody asks");
    all(".antd-Button--danger, .antd-Button--primary", box).at(-1).click();
    await until(() => closed(box), "the question stays");
    await rest();
  },
};

window.robot = (step, given = {}) => steps[step](given).then(
  (found) => ({ found, fault: "" }),
  (error) => ({ fault: `${step} ${JSON.stringify(given)}: ${error.message}` }),
);
})();
