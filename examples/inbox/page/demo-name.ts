const key = 'holdpoint-demo-name';

/**
 * THE DEMO'S STAND-IN FOR A SIGN-IN: the name in `?as=…`, stored for the next visit; `Ada` by default.
 */
export function readName(): string {
  const name = new URLSearchParams(location.search).get('as') ?? localStorage.getItem(key);
  const valid = name !== null && /^[A-Za-z]{1,30}$/.test(name) ? name : 'Ada';
  localStorage.setItem(key, valid);
  return valid;
}
