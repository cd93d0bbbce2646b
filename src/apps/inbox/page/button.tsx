import type { ComponentChildren } from 'preact';
import { findShortcut, type KeyAction } from './key-map.ts';

interface ButtonProps {
  onPress: () => void;
  children: ComponentChildren;
  /** The action of the key that does the same. */
  action?: KeyAction;
  look?: 'yes' | 'no' | 'quiet';
  /** The id of the element that says why it is disabled. It stays focusable, so that no focus is lost. */
  whyNot?: string | undefined;
  /** Checks whether its target was shown for the length of a double click: earlier clicks don't count. */
  isRested?: () => boolean;
  isPressed?: boolean;
  isCurrent?: boolean;
  label?: string;
  id?: string;
}

/** A button that a double click presses once. */
export function Button(props: ButtonProps) {
  const { onPress, children, action, look, whyNot, isPressed, isCurrent, label, id } = props;
  const { isRested = () => true } = props;
  return (
    <button
      type="button"
      id={id}
      class={look}
      aria-label={label}
      aria-disabled={whyNot !== undefined}
      aria-describedby={whyNot}
      aria-keyshortcuts={action && findShortcut(action)}
      aria-pressed={isPressed}
      aria-current={isCurrent === true ? 'true' : undefined}
      onClick={({ detail }) => {
        const isByKey = detail === 0;
        if (isByKey || (detail === 1 && isRested())) onPress();
      }}
    >
      {children}
    </button>
  );
}
