/** Opens a dialog, with the focus on its heading: a key that is still held presses none of its buttons. After it, no focus is lost. */
export function openDialog(dialog: HTMLDialogElement | null): void {
  if (dialog === null) return;
  dialog.showModal();
  dialog.querySelector('h2')?.focus();
  const restore = (): void => {
    const { activeElement } = document;
    if (activeElement !== document.body && !dialog.contains(activeElement)) return;
    document.getElementById('request-title')?.focus({ preventScroll: true });
  };
  dialog.addEventListener('close', restore, { once: true });
}
