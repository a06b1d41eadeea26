// Compiles every schema of the description with Ajv, in its strict mode, and holds each example against its schema.
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const description = JSON.parse(readFileSync(process.argv[2], "utf8"));
// a field may be of two types, such as text and null
const ajv = addFormats(new Ajv2020({ allErrors: true, allowUnionTypes: true }));
// a whole file, of any bytes
ajv.addFormat("binary", true);
// the description is no schema, it has them
ajv.addVocabulary(Object.keys(description));
// extensions (OpenAPI 3.1, section 4.9)
ajv.addVocabulary(["x-dictionary"]);
ajv.addSchema(description, "description", true, false);
const escaped = (name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
const faults = [];
let compiled = 0;

function check(pointer, examples) {
  try {
    const validate = ajv.compile({ $ref: `description#${pointer}` });
    compiled += 1;
    for (const example of examples.filter((one) => !validate(one))) {
      faults.push(`${pointer}: ${JSON.stringify(example)} ${ajv.errorsText(validate.errors)}`);
    }
  } catch (error) {
    faults.push(`${pointer}: ${error.message}`);
  }
}

function walk(part, pointer) {
  if (Array.isArray(part)) {
    part.forEach((child, number) => walk(child, `${pointer}/${number}`));
  } else if (part !== null && typeof part === "object") {
    if (part.schema) {
      check(`${pointer}/schema`, "example" in part ? [part.example] : []);
    } else if (Array.isArray(part.examples)) {
      check(pointer, part.examples);
    }
    Object.entries(part).forEach(([name, child]) => walk(child, `${pointer}/${escaped(name)}`));
  }
}

Object.keys(description.components.schemas).forEach((name) => check(`/components/schemas/${name}`, []));
walk(description.components, "/components");
walk(description.paths, "/paths");
console.log(JSON.stringify({ compiled, faults }));
