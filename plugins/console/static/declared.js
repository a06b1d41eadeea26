// Fields of a form that people declared: the controls for them, once another field of the form says which they are.

import { valueOf } from "./flow.js";
import { call } from "./session.js";
import { isBlank } from "./values.js";

/** Register the controls with the renderer: the field `of` names what `path` returns the fields of. */
export function registerDeclared(library, { createElement, Component }) {
  class Declared extends Component {
    constructor(properties) {
      super(properties);
      this.state = { fields: [] };
    }

    componentDidMount() { this.ask(); }
    componentDidUpdate() { this.ask(); }
    componentWillUnmount() { this.ended = true; }

    async ask() {
      const { data, of, path } = this.props, chosen = data[of];
      if (chosen === this.asked) return;
      this.asked = chosen;
      const reply = isBlank(chosen) ? {} : await call(path, { query: { [of]: chosen } });
      if (!this.ended && chosen === this.asked) this.setState({ fields: reply.data ?? [] });
    }

    render() {
      const { name, kinds, render, value } = this.props, { fields } = this.state;
      const controls = fields.map((field) => ({ ...valueOf(field, false, kinds), name: field.field, label: field.label, required: field.required, clearable: true }));
      const known = new Set(fields.map(({ field }) => field));
      const change = (given) => this.props.onChange(Object.fromEntries(Object.entries(given).filter(([key, one]) => known.has(key) && !isBlank(one))));
      return createElement("div", { className: "part" }, fields.length ? render(name, { type: "form", wrapWithPanel: false, actions: [], mode: this.props.formMode, canAccessSuperData: false, body: controls },
        { key: this.asked, data: value ?? {}, formStore: undefined, onChange: change, onSubmit: undefined, simpleMode: true }) : null);
    }
  }

  library.FormItem({ type: "declared-fields", strictMode: false, sizeMutable: false })(Declared);
}
