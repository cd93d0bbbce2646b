/** Opens a dialog, with the focus on its heading, so that a held key presses none of its buttons. When it closes, the focus is not lost. */
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
