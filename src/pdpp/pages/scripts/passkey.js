// The browser makes and uses passkeys; the form then carries its answer like any other field.
const bytes = (text) => Uint8Array.from(
  atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const answer = async (wanted) => {
  wanted.challenge = bytes(wanted.challenge);
  if (!wanted.user) {
    const { rawId, response } = await navigator.credentials.get({ publicKey: wanted });
    return { id: text(rawId), client: text(response.clientDataJSON),
      authenticator: text(response.authenticatorData), signature: text(response.signature) };
  }
  wanted.user.id = bytes(wanted.user.id);
  for (const known of wanted.excludeCredentials) known.id = bytes(known.id);
  const { rawId, response } = await navigator.credentials.create({ publicKey: wanted });
  return { id: text(rawId), client: text(response.clientDataJSON),
    authenticator: text(response.getAuthenticatorData()), key: text(response.getPublicKey()) };
};
if (window.PublicKeyCredential) document.querySelector("[data-without]")?.remove();
for (const form of document.querySelectorAll("form[data-passkey]")) {
  const field = form.querySelector("[data-answer]");
  form.hidden = !window.PublicKeyCredential;
  form.addEventListener("submit", async (event) => {
    if (field.value) return;
    event.preventDefault();
    const button = event.submitter;
    try {
      field.value = JSON.stringify(await answer(JSON.parse(form.dataset.passkey)));
    } catch (problem) {
      form.querySelector("[role=status]").textContent = problem.name === "InvalidStateError"
        ? "This device has a passkey for this server already."
        : "No passkey was used. Try again, or use the passphrase.";
      return;
    }
    form.requestSubmit(button);
  });
}
