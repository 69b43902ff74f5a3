// The way in: the token of the address goes to the server once, and a key that only this origin can read comes back.

const token = location.hash.slice(1);
history.replaceState(null, "", "/enter"); // so that it stays in no history

try {
  const answer = await fetch("/enter", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (!answer.ok) throw new Error("refused");
  localStorage.setItem("gmcr-key", (await answer.json()).key);
  location.replace("/");
} catch {
  document.getElementById("wait").hidden = true;
  document.getElementById("refused").hidden = false;
}
