/** Opens a dialog, with the focus on its heading: a key that is still held presses none of its buttons. */
export function openDialog(dialog: HTMLDialogElement | null): void {
  dialog?.showModal();
  dialog?.querySelector('h2')?.focus();
}
