// What a person does at a page, as one script: fills in forms, presses buttons, and waits until the page is at rest.
// It is called with the name of a step and what the step needs, and returns what went wrong, or an empty text.

const [step, given] = arguments;
const finish = arguments[arguments.length - 1];
const PATIENCE = 30_000, REST = 3, SETTLED = 500;

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const all = (selector, within = document) => [...within.querySelectorAll(selector)].filter((one) => one.getClientRects().length);
const said = (one) => one?.textContent.trim() ?? "";

async function until(condition, what) {
  for (const end = performance.now() + PATIENCE; performance.now() < end; await sleep(20)) {
    const found = condition();
    if (found) return found;
  }
  throw new Error(`${what}: ${all(".antd-Form-item.has-error").map((one) => `${one.dataset.amisName} ${said(one.querySelector(".antd-Form-feedback"))}`).join("; ")} ${said(document.getElementById("notices"))}`);
}

/** Wait until nothing has been asked for, or turned, a few times in a row. */
async function rest() {
  let quiet = 0;
  await until(() => {
    quiet = window.waiting === 0 && document.querySelector("main .drawn") && !document.querySelector(".antd-Spinner:not(.antd-Spinner--hidden)") ? quiet + 1 : 0;
    return quiet > REST;
  }, "the page does not come to rest");
}

/** Where the buttons of a record are: its page, or its row in a list. */
const around = (row) => row ? all("main tbody tr").find((one) => said(one).includes(row)) : document.querySelector("main");
const top = () => all(".antd-Drawer, .antd-Modal").filter((one) => one.querySelector("form, .antd-Modal-body")).at(-1);
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
  let opened = 0;
  const option = await until(() => {
    const offered = all(".antd-Select-option").filter((one) => !one.classList.contains("is-disabled"));
    const found = offered[place] ?? offered.find((one) => said(one).includes(place));
    if (!found && performance.now() - opened > PATIENCE / 20 && !all(".antd-Select-menu").length) {
      (item.querySelector(".antd-Select-valueWrap") ?? item.querySelector(".antd-Select")).click();
      opened = performance.now();
    }
    return found;
  }, `nothing to choose for ${item.dataset.amisName}`);
  (option.querySelector("input[type=checkbox]") ?? option).click();
  await sleep(50);
  if (all(".antd-Select-menu").length) document.querySelector("header strong").click();
  await rest();
}

/** Type a moment or a day into its control, as it shows them. */
async function pickDay(picker, text) {
  picker.click();
  const field = await until(() => picker.querySelector("input"), "no field for a day");
  type(field, text);
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", code: "Enter", keyCode: 13, bubbles: true }));
  await sleep(50);
  all(".antd-DatePicker-popover .antd-Button--primary, .antd-Calendar-sureBtn").at(-1)?.click();
  document.querySelector("header strong").click();
  await sleep(50);
}

/** Fill in one control that must have a value; whether it had to be. */
async function fill(item, values) {
  const combo = item.querySelector(":scope .antd-ComboControl");
  if (combo) {
    if (combo.querySelector(".antd-Form-item")) return false;
    buttonOf("Add", combo)?.click() ?? all("button, a", combo).at(-1).click();
    await sleep(100);
    return true;
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
  await sleep(20);
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

/** Press what confirms the form on top, and wait until it is gone. The renderer checks what was typed a moment later. */
async function submit(box) {
  await sleep(SETTLED);
  all(".antd-Button--primary", box.querySelector(".antd-Drawer-footer, .antd-Modal-footer") ?? box).at(-1).click();
  await until(() => !box.isConnected || !box.getClientRects().length, "the form stays");
  await rest();
}

async function press(button, row) {
  (await until(() => around(row) && buttonOf(button, around(row)), `no button ${button}`)).click();
}

const steps = {
  async open({ address, tab }) {
    location.hash = address;
    await sleep(50);
    await rest();
    if (tab) {
      (await until(() => all("[role=tab], .antd-Tabs-link").find((one) => said(one) === tab), `no tab ${tab}`)).querySelector("a")?.click();
      await sleep(50);
      await rest();
    }
  },
  async fill({ button, values, row }) {
    await press(button, row);
    const box = await until(top, "no form");
    await rest();
    await fillAll(box, values);
    await submit(box);
  },
  async change({ button, name, value, row }) {
    await press(button, row);
    const box = await until(top, "no form");
    await rest();
    await until(() => all("input, textarea", box).some((one) => one.value), "the record is not read");
    const field = box.querySelector(`[name="${name}"]`);
    type(field, value);
    await sleep(50);
    await submit(box);
  },
  async confirm({ button, row }) {
    await press(button, row);
    const box = await until(top, "nobody asks");
    all(".antd-Button--danger, .antd-Button--primary", box).at(-1).click();
    await until(() => !box.isConnected || !box.getClientRects().length, "the question stays");
    await rest();
  },
};

steps[step](given).then(() => finish(""), (error) => finish(`${step} ${JSON.stringify(given)}: ${error.message}`));
