// What the initiator of a request chooses when it is submitted: a branch or people, for each node that lets them.

import { valueOf } from "./flow.js";
import { call } from "./session.js";
import { isBlank } from "./values.js";

/** Register the control with the renderer: `path` is that of the requests, whose nodes it reads. */
export function registerChoices(library, { createElement, Component }) {
  class Choices extends Component {
    constructor(properties) {
      super(properties);
      this.state = { nodes: [] };
      this.begun = {}; // the same at every time, as the form begins anew with another one
    }

    async componentDidMount() {
      const { data, path } = this.props, reply = await call(`${path}/${data.record_id ?? data.id}`);
      if (!this.ended) this.setState({ nodes: (reply.data?.nodes ?? []).filter((node) => node.choice) });
    }

    componentWillUnmount() { this.ended = true; }

    render() {
      const { name, render } = this.props, { nodes } = this.state;
      const controls = nodes.map((node) => ({ ...valueOf(node.branches?.length ? { values: node.branches.map((one) => ({ value: one.name, label: one.name })) } : { ref: "rbac_users" }, !node.branches?.length),
        name: node.key, label: node.name, clearable: true }));
      const change = (given) => this.props.onChange(nodes.filter(({ key }) => !isBlank(given[key]))
        .map(({ key, branches }) => ({ node: key, [branches?.length ? "branch" : "users"]: given[key] })));
      return createElement("div", { className: "part" }, nodes.length ? render(name, { type: "form", wrapWithPanel: false, actions: [], mode: this.props.formMode, canAccessSuperData: false, body: controls },
        { data: this.begun, formStore: undefined, onChange: change, onSubmit: undefined, simpleMode: true }) : null);
    }
  }

  library.FormItem({ type: "flow-choices", strictMode: false, sizeMutable: false })(Choices);
}
