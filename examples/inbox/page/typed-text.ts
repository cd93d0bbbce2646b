/** What was typed into a field of a form, without the space around it; `''` where there is no such field. */
export function typedText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}
