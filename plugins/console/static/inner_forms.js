// Controls that are forms themselves: what they ask for is known only once the record is read, or another field is filled in.

import { valueOf } from "./flow.js";
import { call } from "./session.js";
import { isBlank } from "./values.js";

/** Register the controls with the renderer. */
export function registerInnerForms(library, { createElement, Component }) {
  /** A control that reads what it asks for anew whenever its `key` changes, and shows a `control` for each of that. */
  class Inner extends Component {
    constructor(properties) {
      super(properties);
      this.state = { asked: [] };
      this.nothing = {}; // the same at every time, as the form begins anew with another one
    }

    componentDidMount() { this.ask(); }
    componentDidUpdate() { this.ask(); }
    componentWillUnmount() { this.ended = true; }

    async ask() {
      const { key } = this;
      if (key === this.known) return;
      this.known = key;
      const asked = isBlank(key) ? [] : await this.read(key);
      if (!this.ended && key === this.known) this.setState({ asked });
    }

    render() {
      const { name, render, formMode: mode, onChange } = this.props, { asked } = this.state;
      return createElement("div", { className: "part" }, asked.length ? render(name, { type: "form", wrapWithPanel: false, actions: [], mode, canAccessSuperData: false, body: asked.map((one) => this.control(one)) },
        { key: this.known, data: this.begun, formStore: undefined, onChange: (given) => onChange(this.entered(given, asked)), onSubmit: undefined, simpleMode: true }) : null);
    }
  }

  /** Fields that people declared: the field `of` names what `path` returns the fields of. */
  class Declared extends Inner {
    get key() { return this.props.data[this.props.of]; }
    get begun() { return this.props.value ?? this.nothing; }
    async read(key) { return (await call(this.props.path, { query: { [this.props.of]: key } })).data ?? []; }
    control(field) { return { ...valueOf(field, false, this.props.kinds), name: field.field, label: field.label, required: field.required, clearable: true }; }
    entered(given, fields) { return Object.fromEntries(fields.map(({ field }) => [field, given[field]]).filter(([, one]) => !isBlank(one))); }
  }

  /** What the initiator of a request chooses when it is submitted, a branch or people: `path` is that of the requests, whose nodes are read. */
  class Choices extends Inner {
    get key() { return this.props.data.record_id ?? this.props.data.id; }
    get begun() { return this.nothing; }
    async read(key) { return ((await call(`${this.props.path}/${key}`)).data?.nodes ?? []).filter((node) => node.choice); }
    control({ key: name, name: label, branches = [] }) {
      const values = branches.map((one) => ({ value: one.name, label: one.name }));
      return { ...valueOf(values.length ? { values } : { ref: "rbac_users" }, !values.length), name, label, clearable: true };
    }

    entered(given, nodes) {
      return nodes.filter(({ key }) => !isBlank(given[key])).map(({ key, branches }) => ({ node: key, [branches?.length ? "branch" : "users"]: given[key] }));
    }
  }

  for (const [type, control] of [["declared-fields", Declared], ["flow-choices", Choices]]) library.FormItem({ type, strictMode: false, sizeMutable: false })(control);
}
