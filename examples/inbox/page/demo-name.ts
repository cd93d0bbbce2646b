const key = 'holdpoint-demo-name';

/**
 * THE DEMO'S STAND-IN FOR A SIGN-IN: the name in `?as=…`, kept for the next visit; Ada for who says nothing.
 */
export function readName(): string {
  const said = new URLSearchParams(location.search).get('as') ?? localStorage.getItem(key);
  const name = said !== null && /^[A-Za-z]{1,30}$/.test(said) ? said : 'Ada';
  localStorage.setItem(key, name);
  return name;
}
