// Logs in and lists customers with types that are generated from the service's description.
import createClient from "openapi-fetch";
import type { components, paths } from "./tradewind.js";

type Customer = components["schemas"]["Customer"];
const { TRADEWIND_URL: baseUrl = "", TRADEWIND_USERNAME: username = "", TRADEWIND_PASSWORD: password = "" } = process.env;
const client = createClient<paths>({ baseUrl });

const login = await client.POST("/api/v1/auth/login", { body: { username, password } });
if (login.error) {
  throw new Error(`${login.error.code}: ${login.error.msg}`);
}
const headers = { Authorization: `Bearer ${login.data.data.accessToken}` };
const customers = await client.GET("/api/v1/crm/customers", { headers, params: { query: { sort: "name", page_size: 5 } } });
if (customers.error?.code === 40001) {
  throw new Error(customers.error.data.errors.map((fault) => `${fault.field} ${fault.message}`).join(", "));
} else if (customers.error) {
  throw new Error(customers.error.msg);
}
// @ts-expect-error a customer has no such field: without this line, the compiler refuses the next one
customers.data.data.items.map((customer: Customer) => customer.nickname);
const names = customers.data.data.items.map((customer: Customer) => customer.name);
console.log(JSON.stringify({ total: customers.data.data.total, names }));
