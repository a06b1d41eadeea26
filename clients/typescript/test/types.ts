/** What the compiler must accept, and what it must refuse: an expected error that does not come is an error. */
import type { Client } from "tradewind-client";

/** Never called. */
export async function typed(client: Client): Promise<void> {
  const path = { id: "65f0c0ffee65f0c0ffee65f0" };
  const customer = await client.get("/api/v1/crm/customers/{id}", { path });
  void (customer.name satisfies string);
  // @ts-expect-error a customer has no such field
  void customer.nickname;
  // @ts-expect-error the path needs its id
  void client.get("/api/v1/crm/customers/{id}");
  // @ts-expect-error there is no such path
  void client.get("/api/v1/crm/costumers");
  // @ts-expect-error there is no such parameter
  void client.get("/api/v1/crm/customers", { query: { naem: "A" } });
  // @ts-expect-error the body is missing
  void client.post("/api/v1/crm/customers");
  // @ts-expect-error this is no list
  void client.list("/api/v1/auth/profile");
  // @ts-expect-error this is no file
  void client.download("/api/v1/auth/profile");

  const saved = await client.patch("/api/v1/crm/customers/{id}", { path, body: { version: 1, phone: "1" } }).result();
  if (!saved.ok && saved.error.code === 40902) {
    void (saved.error.data?.changed satisfies string[] | null | undefined);
  }
  // @ts-expect-error a change is never refused with this
  void (!saved.ok && saved.error.code === 40010);
  for await (const one of client.list("/api/v1/meta/options/{collection}", { path: { collection: "users" } })) {
    void (one.name satisfies string | null);
  }
  await client.post("/api/v1/crm/customers/import", { body: new FormData() });
}
