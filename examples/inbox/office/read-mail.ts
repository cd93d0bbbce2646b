/** The recipient of a mail, and its body if the message has one: "Write to Bob: the heating is off". */
export function readMail(wish: string): { to: string; body?: string | undefined } {
  const colon = wish.indexOf(':');
  const head = colon === -1 ? wish : wish.slice(0, colon);
  const body = colon === -1 ? undefined : wish.slice(colon + 1).trim();
  const name = /\S+@\S+/.exec(head)?.[0] ?? /\b(?:to|tell)\s+(.+?)\s*$/i.exec(head)?.[1];
  return { to: addressOf(name ?? 'the team'), body: body === '' ? undefined : body };
}

function addressOf(name: string): string {
  if (name.includes('@')) return name;
  const words = name.replace(/^(the|my|our)\s+/i, '').split(/\s+/);
  return `${words.join('.').toLowerCase()}@office.example`;
}
