// Compiles every schema of the description with Ajv, in its strict mode, and holds each example against its schema.
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const description = JSON.parse(readFileSync(process.argv[2], "utf8"));
// a field may be of two types, such as text and null
const ajv = addFormats(new Ajv2020({ allErrors: true, allowUnionTypes: true }));
// a whole file, of any bytes
ajv.addFormat("binary", true);
// RFC 6531; ajv-formats knows ASCII addresses only
ajv.addFormat("idn-email", true);
// the description is no schema, it has them
ajv.addVocabulary(Object.keys(description));
// extensions (OpenAPI 3.1, section 4.9)
ajv.addVocabulary(["x-dictionary", "x-reference"]);
ajv.addSchema(description, "description", true, false);
const escaped = (name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
const faults = [];
const known = new Map(); // by its text, the function of each schema: parameters of many routes are alike
let checked = 0;

function compile(pointer, schema) {
  const text = JSON.stringify(schema);
  if (!known.has(text)) {
    known.set(text, ajv.compile({ $ref: `description#${pointer}` }));
  }
  return known.get(text);
}

function check(pointer, schema, examples) {
  try {
    const validate = compile(pointer, schema);
    checked += 1;
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
      check(`${pointer}/schema`, part.schema, "example" in part ? [part.example] : []);
    } else if (Array.isArray(part.examples)) {
      check(pointer, part, part.examples);
    }
    Object.entries(part).forEach(([name, child]) => walk(child, `${pointer}/${escaped(name)}`));
  }
}

Object.entries(description.components.schemas).forEach(([name, schema]) => check(`/components/schemas/${name}`, schema, []));
walk(description.components, "/components");
walk(description.paths, "/paths");
console.log(JSON.stringify({ checked, faults }));
