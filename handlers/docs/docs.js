// Swagger UI over our own description. A log-in through "Try it out" signs every further request.
"use strict";

// Swagger UI sends every example and default it is given: an optional parameter keeps them as a hint only.
function withoutPrefilledOptions(description) {
  for (const operations of Object.values(description.paths)) {
    for (const operation of Object.values(operations)) {
      for (const parameter of operation.parameters ?? []) {
        if (!parameter.required) {
          parameter.description = [parameter.description, hint(parameter)].filter(Boolean).join(" ");
          delete parameter.example;
          delete parameter.schema.default;
        }
      }
    }
  }
  return description;
}

function hint(parameter) {
  const fallback = parameter.schema.default;
  if (fallback !== undefined) {
    return `Default \`${fallback}\`.`;
  }
  // an opaque value such as a cursor explains nothing
  return String(parameter.example).length > 40 ? "" : `For example \`${parameter.example}\`.`;
}

// Whatever answers an access token (log-in, refresh) signs the page in; a log-out signs it out.
function useToken(response) {
  const json = response.headers["content-type"]?.startsWith("application/json");
  const token = json && JSON.parse(response.text).data?.accessToken;
  if (token) {
    window.ui.preauthorizeApiKey("bearer", token);
  } else if (response.url.endsWith("/logout")) {
    window.ui.authActions.logout(["bearer"]);
  }
}

window.ui = SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  showExtensions: true,
  validatorUrl: null,
  persistAuthorization: false,
  responseInterceptor: (response) => {
    if (response.url.endsWith("/openapi.json")) {
      response.text = JSON.stringify(withoutPrefilledOptions(JSON.parse(response.text)));
    } else if (response.ok) {
      useToken(response);
    }
    return response;
  },
});
