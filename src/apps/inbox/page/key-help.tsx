import type { RefObject } from 'preact';
import { Button } from './button.tsx';
import { keyLines } from './key-map.ts';
import type { StoredSetting } from './stored-setting.ts';

interface KeyHelpProps {
  dialog: RefObject<HTMLDialogElement | null>;
  letters: StoredSetting;
  onChange: () => void;
}

/** The list of keys, and the switch that turns letter keys off. */
export function KeyHelp({ dialog, letters, onChange }: KeyHelpProps) {
  return (
    <dialog ref={dialog} aria-labelledby="help-title">
      <h2 id="help-title" tabIndex={-1}>
        Keys
      </h2>
      <dl class="keys">
        {keyLines.map(({ action, keys, does }) => (
          <div key={action}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p>In a field, letters are text and Enter answers nothing; Esc leaves it.</p>
      <label class="check">
        <input
          type="checkbox"
          checked={letters.isOn}
          onChange={({ currentTarget }) => {
            letters.set(currentTarget.checked);
            onChange();
          }}
        />
        Letters are keys in this browser
      </label>
      <div class="buttons">
        <Button onPress={() => dialog.current?.close()}>Close</Button>
      </div>
    </dialog>
  );
}
