// Which addresses are followed: those that no browser and no proxy takes for another one.

/** Return whether a step of an address is a plain name, such as a code or an id. */
export const isStep = (step) => /^(?!\.{1,2}$)[\w.:~-]+$/.test(step);

/** Return the address of a request. Throws an error if a browser would change its path or cut it off, or if it leaves a folder once it is decoded. */
export function checked(address) {
  const [path] = address.split("?"), { pathname, hash } = new URL(address, location.origin);
  const leads = decodeURIComponent(path).split(/[/\\]/).some((step) => step === "." || step === "..");
  if (pathname !== path || hash || leads) throw new TypeError(`not an address of the API: ${address}`);
  return address;
}
