/** Prints what it hears until the session ends; a test kills the server meanwhile. */
import { Client } from "tradewind-client";

const { TRADEWIND_URL: baseUrl = "", TRADEWIND_PASSWORD: password = "" } = process.env;
const client = new Client({ baseUrl, language: "en" });
await client.logIn("admin", password);
await client.listen(
  (message) => {
    if (message.type === "notification") console.log(message.data.title);
  },
  { onStatus: (connected) => console.log(connected ? "connected" : "away") },
);
console.log("the session has ended");
