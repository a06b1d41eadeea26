// A flow as a diagram: start, conditions, nodes, end. Each part opens a form; a trial shows what a flow did with a record.

import { describe } from "./conflict.js";
import { call } from "./session.js";
import { isBlank } from "./values.js";
import { language, say } from "./words.js";

const LISTS = ["in", "not_in"], MOST_QUORUM = 9, NUMBERS = ["money", "quantity"], MOMENT = /^\d{4}-\d\d-\d\dT/;
const CHOSEN = { joinValues: false, extractValue: true }, YES_NO = [true, false].map((value) => ({ value, label: say(value ? "yes" : "no") }));
const partsOf = (node) => (node?.branches?.length ? node.branches : node?.lanes ?? []);
/** Return the nodes with other keys in a part of one of them. */
const placed = (nodes, { key, list, number }, keys) => nodes.map((node) => (node.key === key ? { ...node, [list]: node[list].map((part, at) => (at === number ? { ...part, nodes: keys } : part)) } : node));
const named = (items, name) => items?.find((one) => one.name === name);
const said = new Map(); // texts for values, as asking for the names of people takes a request

/** Return the text for a mode of a node: `any`, `all`, or `quorum:3`. */
const mode = (value) => (value?.startsWith("quorum:") ? say("atLeast", { count: value.slice(7) }) : say(value === "all" ? "everyone" : "anyone"));

function text(control, value) {
  const key = JSON.stringify([control.source?.url, control.options, value]);
  if (!said.has(key)) said.set(key, describe(control, value));
  return said.get(key);
}

/** Return the control for the values of a field, several for operators that take a list; `kinds` are those by kinds of fields. */
export function valueOf(field, several, kinds = {}) {
  if (field?.ref) {
    const source = { method: "get", url: `/api/v1/meta/options/${field.ref}?q=\${term}&chosen=\${value}` };
    return { type: "select", source, autoComplete: source, labelField: "name", valueField: "id", multiple: several, ...CHOSEN };
  }
  const options = field?.kind === "boolean" ? YES_NO : field?.values;
  if (options?.length) return { type: "select", options, multiple: several, ...CHOSEN };
  if (several) return { type: "input-tag", options: [], ...CHOSEN };
  return kinds[field?.kind] ?? { type: "input-text", validations: NUMBERS.includes(field?.kind) ? { isNumeric: true } : {} };
}

/** Return the form of the conditions on these fields; without fields, any can be named. */
function conditionForm({ items }, fields, kinds) {
  const operator = named(items, "op"), title = say("value");
  const parts = (field) => [
    { ...operator, options: operator.options.filter(({ value }) => !field || field.operators.includes(value)), clearable: false },
    { ...valueOf(field, false, kinds), name: "value", label: title, visibleOn: "${op && op != 'exists' && op != 'in' && op != 'not_in'}" },
    { ...valueOf(field, true, kinds), name: "value", label: title, visibleOn: "${op == 'in' || op == 'not_in'}" },
  ];
  const common = { type: "combo", name: "conditions", multiple: true, multiLine: true, mode: "normal", label: false, className: "conditions" };
  if (!fields.length) return { ...common, items: [named(items, "field"), ...parts(null)] };
  const conditions = fields.map((field) => ({ label: field.label, test: `\${field == '${field.field}'}`,
    scaffold: { field: field.field, op: field.operators.includes("gte") ? "gte" : field.operators[0] }, items: parts(field) }));
  return { ...common, conditions, addButtonText: say("addCondition"), typeSwitchable: true };
}

/** Return a condition whose value is of the form that its operator takes; moments are kept in UTC, as the API writes them. */
function mended({ field, op, value }) {
  if (op === "exists") return { field, op };
  const given = [value].flat().filter((one) => !isBlank(one)).map((one) => (MOMENT.test(one) ? new Date(one).toISOString() : one));
  return { field, op, value: LISTS.includes(op) ? given : given[0] };
}

/** Return what is stored of the people that a form names. */
const peopleOf = (value) => Object.fromEntries(Object.entries(value ?? {}).filter(([name, one]) => !isBlank(one) && !name.endsWith("_names") && !name.endsWith("_name")));

/** Register the diagram with the renderer. */
export function registerFlow(library, { createElement, Component }) {
  class Flow extends Component {
    constructor(properties) {
      super(properties);
      this.state = { types: [], operators: [], texts: {}, form: null };
    }

    async componentDidMount() {
      const reply = await call(this.props.types);
      if (!this.ended) this.setState({ types: reply.data?.items ?? [], operators: reply.data?.operators ?? [] });
    }

    componentDidUpdate() { this.tell(); }
    componentWillUnmount() { this.ended = true; }

    get type() { return this.state.types.find((one) => one.biz_type === this.props.data.biz_type); }
    get nodes() { return (this.props.trial ? this.props.data.nodes : this.props.value) ?? []; }

    /** Put what the parts say into words; names are asked for. */
    async tell() {
      const { data, items, parts = {}, trial } = this.props, key = JSON.stringify([data.biz_type, data.conditions, this.nodes, data.copies, data.flows, this.state.types.length]);
      if (key === this.told) return;
      this.told = key;
      const people = async (control, value) => (await Promise.all((control?.items ?? []).filter((one) => !isBlank(value?.[one.name]))
        .map(async (one) => `${one.label}: ${await text(one, value[one.name])}`)));
      const asked = ({ name, because, on_behalf_of_name: place }) => [name, [because, place].filter(Boolean).join(" · ")].filter(Boolean).join(" – ");
      const ofNode = async (node) => (trial ? [`${mode(node.mode)}`, ...node.approvers.map(asked)] : [...await people(named(items, "approvers"), node.approvers),
        [mode(node.mode), node.on_reject === "back" && `${named(items, "on_reject").label}: ${await text(named(items, "on_reject"), "back")}`].filter(Boolean).join(" · ")]);
      const texts = {
        nodes: await Promise.all(this.nodes.map(ofNode)),
        parts: Object.fromEntries(await Promise.all(this.nodes.filter((node) => node.branches?.length).map(async (node) => [node.key,
          await Promise.all(node.branches.map(async (branch) => { const lines = await this.conditions(branch.conditions); return lines.length ? lines : [say("otherwise")]; }))]))),
        copies: trial ? (data.copies ?? []).map(asked) : await people(parts.copies, data.copies),
        conditions: await this.conditions(data.conditions),
        flows: await Promise.all((data.flows ?? []).map(async (one) => [one.name, await this.conditions(one.failed)])),
      };
      if (!this.ended && key === this.told) this.setState({ texts });
    }

    async conditions(given) {
      const operator = { options: this.state.operators };
      return Promise.all((given ?? []).map(async ({ field, op, value }) => {
        const known = this.type?.fields.find((one) => one.field === field);
        const shown = op === "exists" ? "" : await text(valueOf(known, false, this.props.kinds), value);
        return `${known?.label ?? field} ${await text(operator, op)} ${shown}`.trim();
      }));
    }

    /** Open the form of a part; `done` gets what was entered. */
    open(title, body, data, done) { this.setState({ form: { title, body, data, done } }); }

    /** Open the form of a node, or of a new one at a place in a sequence; of one with branches or lanes, only its name. */
    editNode(place, before = null) {
      const { items } = this.props, modes = [...new Set(["any", "all", ...Array.from({ length: MOST_QUORUM - 1 }, (_, count) => `quorum:${count + 2}`), before?.mode ?? "any"])];
      const body = items.filter((one) => (before && partsOf(before).length ? ["name", "choice"].includes(one.name) : one.type !== "hidden"))
        .map((one) => (one.type === "quorum" ? { ...one, type: "select", options: modes.map((value) => ({ value, label: mode(value) })), ...CHOSEN } : one));
      this.open(say("node"), body, before ?? { mode: "any" }, (given) => {
        const [copies, substitutes] = [given.copies, given.substitutes].map((one) => (one ? peopleOf(one) : null));
        const node = { ...before, ...given, key: before?.key ?? this.free(), approvers: peopleOf(given.approvers), copies, substitutes, deadline: given.deadline?.hours ? given.deadline : null };
        if (before) this.props.onChange(this.nodes.map((one) => (one.key === before.key ? node : one)));
        else this.insert(place, [node]);
      });
    }

    /** Open the form of a branch or a lane. */
    editPart(node, list, at) {
      const part = node[list][at], name = { ...named(this.props.items, "name"), label: say("partName") };
      const body = list === "branches" ? [name, conditionForm(this.props.parts.conditions, this.type?.fields ?? [], this.props.kinds)] : [name];
      this.open(say(list), body, part, (given) => {
        const changed = { ...part, name: given.name, ...list === "branches" ? { conditions: (given.conditions ?? []).map(mended) } : {} };
        this.changeParts(node, list, node[list].with(at, changed));
      });
    }

    changeParts(node, list, parts) { this.props.onChange(this.nodes.map((one) => (one.key === node.key ? { ...one, [list]: parts } : one))); }

    /** Return a key that no node has, the first after `from`. */
    free(from = 1) {
      for (let number = from; ; number += 1) if (!this.nodes.some(({ key }) => key === `node-${number}`)) return `node-${number}`;
    }

    /** Add a node with two branches or lanes; lanes cannot be empty, so they begin with a node each. */
    fork(place, list) {
      const key = this.free(), approvers = { initiator_leader: 1 };
      const inner = list === "lanes" ? [this.free(+key.slice(5) + 1)] : [];
      if (inner.length) inner.push(this.free(+inner[0].slice(5) + 1));
      const parts = [1, 2].map((number, at) => ({ name: `${say(list)} ${number}`, ...list === "branches" ? { conditions: [] } : {}, nodes: inner.slice(at, at + 1) }));
      this.insert(place, [{ key, name: say(list), mode: "any", approvers: {}, [list]: parts }], inner.map((one) => ({ key: one, name: say("node"), mode: "any", approvers })));
    }

    /** Put nodes at a place in a sequence, and further ones, which they name, at the end. */
    insert({ keys, at, holder }, [node], below = []) {
      const nodes = [...this.nodes], next = nodes.findIndex(({ key }) => key === keys[at]);
      if (holder || next < 0) nodes.push(node, ...below);
      else nodes.splice(next, 0, node, ...below);
      this.props.onChange(holder ? placed(nodes, holder, keys.toSpliced(at, 0, node.key)) : nodes);
    }

    move({ keys, at, holder }, to) {
      const order = keys.with(at, keys[to]).with(to, keys[at]), nodes = [...this.nodes];
      if (holder) { this.props.onChange(placed(nodes, holder, order)); return; }
      const [one, other] = [at, to].map((index) => nodes.findIndex(({ key }) => key === keys[index]));
      [nodes[one], nodes[other]] = [nodes[other], nodes[one]];
      this.props.onChange(nodes);
    }

    /** Remove a node of a sequence, and those below it. */
    remove({ keys, at, holder }) {
      const below = (key) => [key, ...partsOf(named(this.keyed, key)).flatMap((part) => part.nodes.flatMap(below))], gone = below(keys[at]);
      const left = this.nodes.filter(({ key }) => !gone.includes(key));
      this.props.onChange(holder ? placed(left, holder, keys.toSpliced(at, 1)) : left);
    }

    get keyed() { return this.nodes.map((node) => ({ ...node, name: node.key })); }

    /** Return a part of the diagram; with `act` it is a button. */
    card(key, className, title, lines, act, ...tools) {
      const inside = [createElement("b", { key: "title" }, title), ...(lines ?? []).map((line, place) => createElement("span", { key: place }, line))];
      const main = act ? createElement("button", { type: "button", className: "main", onClick: act }, ...inside) : createElement("div", { className: "main" }, ...inside);
      return createElement("li", { key, className }, main, tools.length ? createElement("span", { className: "tools" }, ...tools) : null);
    }

    tool(key, sign, word, act) { return act && createElement("button", { key, type: "button", title: say(word), "aria-label": say(word), onClick: act }, sign); }

    /** Return the cards of a sequence of nodes, each with what is below it, and the buttons that add one. */
    sequence(keys, holder, fixed) {
      const { texts } = this.state, { trial } = this.props;
      const add = (at) => (fixed ? null : createElement("li", { key: `add-${at}`, className: "add" }, this.tool("add", "+", "addNode", () => this.editNode({ keys, at, holder })),
        this.tool("branches", "◇", "addBranches", () => this.fork({ keys, at, holder }, "branches")), this.tool("lanes", "∥", "addLanes", () => this.fork({ keys, at, holder }, "lanes"))));
      const cards = keys.flatMap((key, at) => {
        const index = this.nodes.findIndex((one) => one.key === key), node = this.nodes[index], place = { keys, at, holder };
        if (!node) return [];
        const list = node.branches?.length ? "branches" : "lanes", parts = partsOf(node);
        const tools = fixed ? [] : [this.tool("up", "↑", "moveUp", at > 0 && (() => this.move(place, at - 1))), this.tool("down", "↓", "moveDown", at < keys.length - 1 && (() => this.move(place, at + 1))),
          this.tool("remove", "×", "remove", () => this.remove(place))].filter(Boolean);
        const card = this.card(key, `node${trial && node.approvers.length < node.needed ? " missing" : ""}`, node.name, parts.length ? [say(list)] : texts.nodes?.[index], fixed ? null : () => this.editNode(place, node), ...tools);
        const inside = parts.length ? createElement("li", { key: `${key}-parts`, className: "parts" }, ...parts.map((part, number) => createElement("ol", { key: number, className: "flow" },
          this.card("part", "when", part.name, list === "branches" ? texts.parts?.[key]?.[number] : null, fixed ? null : () => this.editPart(node, list, number),
            ...fixed || parts.length < 3 ? [] : [this.tool("remove", "×", "remove", !part.nodes.length && (() => this.changeParts(node, list, node[list].toSpliced(number, 1))))].filter(Boolean)),
          ...this.sequence(part.nodes, { key, list, number }, fixed))), fixed ? null : this.tool("part", "+", list === "branches" ? "addBranch" : "addLane", () => this.addPart(node, list))) : null;
        return [add(at), card, inside];
      });
      return [...cards, add(keys.length)];
    }

    /** Add a branch before the last one, which is for the rest, or a lane with a node. */
    addPart(node, list) {
      const name = `${say(list)} ${node[list].length + 1}`;
      if (list === "branches") { this.changeParts(node, list, node[list].toSpliced(-1, 0, { name, conditions: [], nodes: [] })); return; }
      const key = this.free(), nodes = [...this.nodes, { key, name: say("node"), mode: "any", approvers: { initiator_leader: 1 } }];
      this.props.onChange(nodes.map((one) => (one.key === node.key ? { ...one, lanes: [...one.lanes, { name, nodes: [key] }] } : one)));
    }

    draw() {
      const { data, parts = {}, trial, onBulkChange, onChange } = this.props, { texts } = this.state, fixed = trial || this.props.fixed;
      if (trial && !data.flows) return null;
      const none = (lines, word) => (lines?.length ? lines : [say(word)]);
      const when = fixed ? null : () => this.open(say("conditions"), [conditionForm(parts.conditions, this.type?.fields ?? [], this.props.kinds)], { conditions: data.conditions ?? [] },
        (given) => onBulkChange({ conditions: (given.conditions ?? []).map(mended) }));
      const copied = fixed ? null : () => this.open(say("copied"), parts.copies.items, data.copies ?? {}, (given) => onBulkChange({ copies: peopleOf(given) }));
      const inside = new Set(this.nodes.flatMap((node) => partsOf(node).flatMap((part) => part.nodes)));
      const others = trial ? (texts.flows ?? []).filter(([name, failed]) => failed.length).map(([name, failed]) => `${name}: ${say("unmet")} ${failed.join("; ")}`) : [];
      return createElement("ol", { className: "flow" },
        this.card("start", "start", trial ? `${say("submits")} – ${data.initiator_name ?? ""}` : say("submits"), [this.type?.name ?? data.biz_type].filter(Boolean)),
        trial ? this.card("applies", data.definition_id ? "when" : "when missing", data.definition_id ? data.definition_name : say("noFlow"), [...(data.taken ?? []).map((one) => `${one.name}: ${one.branch}`), ...others])
          : this.card("when", "when", say("conditions"), none(texts.conditions, "always"), when),
        ...this.sequence(this.nodes.map(({ key }) => key).filter((key) => !inside.has(key)), null, fixed),
        trial && !data.definition_id ? null : this.card("copies", "copies", say("copied"), none(texts.copies, "nobody"), copied),
        this.card("end", "end", say("ends")));
    }

    render() {
      const { form } = this.state, close = () => this.setState({ form: null });
      const dialog = form && this.props.render("modal", { type: "dialog", title: form.title, size: "lg", closeOnEsc: true,
        body: { type: "form", mode: "horizontal", canAccessSuperData: false, inheritData: false, body: form.body } },
      { show: true, data: form.data, formStore: undefined, onClose: close, onConfirm: ([given]) => { form.done(given); close(); } });
      return createElement("div", { className: "part", lang: language }, this.draw(), dialog);
    }
  }

  library.FormItem({ type: "flow", strictMode: false, sizeMutable: false })(Flow);
}
