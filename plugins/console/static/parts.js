// Components of our own in the renderer's pages. A part is a function that fills an element, and follows its properties.

import { askBeforeClosing, draft } from "./drafts.js";
import { registerFlow } from "./flow.js";
import { importer } from "./imports.js";
import { registerInnerForms } from "./inner_forms.js";
import { chips, counts } from "./lists.js";
import { confirmsWait, counted, enterMoves, percent, totals } from "./lines.js";
import { month } from "./month.js";
import { position } from "./position.js";
import { formatted, richText } from "./rich_text.js";
import { attachedFiles, attachments, fileNames, storedFile } from "./uploads.js";
import { namedValues } from "./values.js";
import { language, say } from "./words.js";

const PARTS = { attachments, counts, "days-of-month": month, draft, "file-names": fileNames, formatted, importer, "named-values": namedValues, totals }, CONTROLS = { "attached-files": attachedFiles, counted, "geo-position": position, percent, "rich-text": richText, "stored-file": storedFile };

/** Return the renderer's component for a part: `mount` gets the element and a function that returns the current properties. */
function component(React, mount) {
  return class extends React.Component {
    constructor(properties) {
      super(properties);
      this.place = React.createRef();
    }

    componentDidMount() {
      this.part = mount(this.place.current, () => this.props) ?? {};
      this.part.update?.(this.props);
    }

    componentDidUpdate() { this.part.update?.(this.props); }

    componentWillUnmount() { this.part.end?.(); }

    render() { return React.createElement("div", { ref: this.place, className: `part ${this.props.type}` }); }
  };
}

/** Register all parts with the renderer; `listOf` returns the list with an id. */
export function registerParts(library, React, listOf) {
  for (const [type, mount] of Object.entries({ ...PARTS, chips: chips(listOf) })) library.Renderer({ type })(component(React, mount));
  for (const [type, mount] of Object.entries(CONTROLS)) library.FormItem({ type, strictMode: false })(component(React, mount));
  registerFlow(library, React);
  registerInnerForms(library, React);
  library.extendLocale?.(language === "en" ? "en-US" : "zh-CN", { "Form.validateFailed": say("red"), "Combo.type": say("field"), "placeholder.empty": say("nothing") });
  enterMoves();
  confirmsWait();
  askBeforeClosing();
}
