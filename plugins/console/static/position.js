// The position of the device, for a field with a longitude and a latitude.

import { button, element, say } from "./words.js";

const WAIT = { enableHighAccuracy: true, timeout: 20_000, maximumAge: 0 };

/** The control of a position: the browser fills it in, with its accuracy and its time if the form has fields for them. */
export function position(place, properties) {
  const { beside = [], fixed } = properties(), said = element("span", { role: "status" });
  const inputs = ["lng", "lat"].map((name) => element("input", { type: "number", step: "any", name, ariaLabel: properties()[name], placeholder: properties()[name] }));
  const put = (found) => {
    const { latitude, longitude, accuracy } = found.coords;
    const known = { accuracy: Math.round(accuracy), fix_at: new Date(found.timestamp).toISOString(), coordinate_system: "wgs84" };
    properties().onChange({ lng: longitude, lat: latitude });
    properties().onBulkChange?.(Object.fromEntries(beside.filter((name) => name in known).map((name) => [name, known[name]])));
    said.textContent = say("located", { lng: longitude.toFixed(5), lat: latitude.toFixed(5), metres: Math.round(accuracy) });
  };
  const locate = () => {
    if (!isSecureContext || !navigator.geolocation) { said.textContent = say(isSecureContext ? "unlocated" : "insecure"); return; }
    said.textContent = say("locating");
    navigator.geolocation.getCurrentPosition(put, (fault) => { said.textContent = say(fault.code === fault.PERMISSION_DENIED ? "denied" : "unlocated"); }, WAIT);
  };
  const typed = () => {
    const [lng, lat] = inputs.map((input) => input.value);
    properties().onChange(lng === "" && lat === "" ? null : { lng: lng === "" ? null : Number(lng), lat: lat === "" ? null : Number(lat) });
  };
  for (const input of inputs) input.addEventListener("input", typed);
  place.replaceChildren(...fixed ? [] : inputs, button(say("locate"), locate), said);
  if (fixed) locate();
  return {
    update: ({ value }) => inputs.forEach((input) => {
      const now = value?.[input.name] ?? "";
      if (document.activeElement !== input && input.value !== String(now)) input.value = now;
    }),
  };
}
