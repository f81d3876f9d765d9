// Files go up in pieces, each at its place. What is here already is not sent again, so an upload
// that was interrupted goes on where it was when the same files are dropped once more.
const area = document.getElementById("drop");
const form = document.getElementById("upload");
if (area && form) {
  const state = document.getElementById("upload-state");
  const bar = document.getElementById("upload-bar");
  const stop = document.getElementById("upload-cancel");
  const token = form.elements.token.value;
  const uploads = form.getAttribute("action");
  const root = uploads.slice(0, -"/import/uploads".length);
  let cancelled = false;
  let current = null;
  let wake = null;
  let key = "";
  let dropped = [];
  const say = (text) => { state.textContent = text; };
  // Marks that cannot be seen would turn the rest of the line around.
  const plain = (name) => name.replace(/\p{C}/gu, "·");
  const size = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

  const call = (method, address, body, progress) => new Promise((done, failed) => {
    const end = () => failed(Object.assign(new Error("Cancelled."), { final: true }));
    if (cancelled) { end(); return; }
    const request = new XMLHttpRequest();
    current = request;
    request.open(method, address);
    request.setRequestHeader("X-Form-Token", token);
    if (key) request.setRequestHeader("X-Upload-Key", key);
    request.responseType = "json";
    request.upload.onprogress = (event) => progress && progress(event.loaded);
    request.onload = () => {
      if (request.status === 200) done(request.response);
      else failed(Object.assign(new Error((request.response || {}).error || "The server refused it."),
        { final: request.status !== 503 && request.status < 500 && request.status !== 429, gone: request.status === 404 }));
    };
    request.onerror = () => failed(new Error("The connection broke."));
    request.onabort = end;
    request.send(body);
  });

  const again = async (attempt) => {
    for (let tries = 0; ; tries += 1) {
      try { return await attempt(); }
      catch (problem) {
        if (problem.final || tries >= 8) throw problem;
        say(`${problem.message} Trying again.`);
        await new Promise((on) => { wake = on; setTimeout(on, Math.min(30000, 500 * 2 ** tries)); });
      }
    }
  };

  // To the browser it is a broken connection too if the file was changed or removed meanwhile.
  const look = async (name, piece) => {
    try { await piece.slice(0, 1).arrayBuffer(); }
    catch {
      const words = `Your browser can read ${plain(name)} no more: it was changed or removed.`;
      throw Object.assign(new Error(words), { final: true, gone: true });
    }
  };

  const send = async (files) => {
    if (!files.length) return;
    cancelled = false;
    bar.hidden = stop.hidden = false;
    const body = new URLSearchParams();
    // At an address whose cookies other ports get too, the passphrase says that it is the owner.
    if (form.elements.confirm) body.append("confirm", form.elements.confirm.value);
    for (const [name, file] of files) {
      body.append("name", name);
      body.append("size", file.size);
      // A file that was changed since is another one, though it may have the same size.
      body.append("modified", Math.max(0, Math.trunc(file.lastModified)));
    }
    const total = files.reduce((sum, [, file]) => sum + file.size, 0);
    key = "";
    try {
      const begun = await again(() => call("POST", uploads, body));
      key = begun.key;
      let before = 0;
      for (const [number, [name, file]] of files.entries()) {
        let offset = begun.offsets[number];
        do {
          const piece = file.slice(offset, offset + begun.chunk);
          const address = `${uploads}/${begun.id}/${number}?offset=${offset}`;
          const show = (loaded) => {
            bar.value = total ? (before + offset + loaded) / total : 1;
            say(`${plain(name)}: ${size(before + offset + loaded)} of ${size(total)}`);
          };
          const put = async () => {
            try { return await call("PUT", address, piece, show); }
            catch (problem) {
              if (!problem.final) await look(name, piece);
              throw problem;
            }
          };
          offset = (await again(put)).offset;
        } while (offset < file.size);
        before += file.size;
      }
      say("All here. Looking at what it is.");
      location.assign(root + begun.page);
    } catch (problem) {
      bar.hidden = stop.hidden = true;
      const next = problem.gone ? " Choose the files again." : " What arrived is kept: drop the same files again to go on.";
      say(problem.message + (key ? next : ""));
    }
  };

  // What the browser may not read is left out and told: it keeps nothing else from being sent.
  const walk = async (entry, folder, files, unread) => {
    if (entry.isFile) {
      try { files.push([folder + entry.name, await new Promise((done, failed) => entry.file(done, failed))]); }
      catch { unread.push(folder + entry.name); }
    } else {
      const reader = entry.createReader();
      for (;;) {
        let batch;
        try { batch = await new Promise((done, failed) => reader.readEntries(done, failed)); }
        catch { unread.push(folder + entry.name); return; }
        if (!batch.length) return;
        for (const child of batch) await walk(child, `${folder}${entry.name}/`, files, unread);
      }
    }
  };

  area.addEventListener("dragover", (event) => { event.preventDefault(); area.classList.add("over"); });
  area.addEventListener("dragleave", () => area.classList.remove("over"));
  area.addEventListener("drop", async (event) => {
    event.preventDefault();
    area.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    const files = [], unread = [];
    say("Looking at what you dropped.");
    for (const entry of entries) await walk(entry, "", files, unread);
    const more = unread.length > 3 ? ` and ${unread.length - 3} more` : "";
    const lost = unread.length ? `Your browser cannot read ${plain(unread.slice(0, 3).join(", "))}${more}. ` : "";
    const confirm = form.elements.confirm;
    dropped = files;
    if (!files.length) say(`${lost}There is no file to upload in it.`);
    else if (lost) say(`${lost}Press Upload to send the other ${files.length}.`);
    else if (confirm && !confirm.value) { say("Type your passphrase and press Upload."); confirm.focus(); }
    else send(files);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = [...form.elements.file.files, ...form.elements.folder.files].map((file) => [file.webkitRelativePath || file.name, file]);
    if (chosen.length) dropped = [];
    const files = chosen.length ? chosen : dropped;
    if (files.length) send(files); else say("Choose at least one file.");
  });
  stop.addEventListener("click", () => {
    cancelled = true;
    if (current) current.abort();
    if (wake) wake();
  });
}
