import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DetailHandle, ShownState } from './shown-state.ts';
import { ShownTracker } from './shown-tracker.ts';
import type { ValueReader } from './format-value.ts';

/** The tracker of shown fields. Absent where none are tracked, as in a form. */
const Shown = createContext<ShownTracker | undefined>(undefined);
/** True if the content need not be read. */
const IsOptional = createContext(false);
/** The present, in milliseconds since 1970. It has its own context, as it changes often and few components read it. */
const Now = createContext(0);
/** Keeps the end of the enclosing field from counting until the returned function is called. */
const Hold = createContext<() => () => void>(() => () => undefined);

interface ReadingProps {
  now: number;
  onShown: (shown: ShownState) => void;
  handle?: ((handle: DetailHandle) => void) | undefined;
  children: ComponentChildren;
}

/** The content that a person reads. `onShown` receives the fields whose end they have reached. */
export function Reading({ now, onShown, handle, children }: ReadingProps) {
  const root = useRef<HTMLDivElement>(null);
  const tell = useRef(onShown);
  tell.current = onShown;
  const shown = useMemo(() => new ShownTracker((state) => tell.current(state)), []);
  useLayoutEffect(() => (root.current === null ? undefined : shown.start(root.current)), [shown]);
  useLayoutEffect(() => handle?.(shown), [shown]);
  return (
    <div className="request-detail" ref={root}>
      <Shown.Provider value={shown}>
        <Now.Provider value={now}>{children}</Now.Provider>
      </Shown.Provider>
    </div>
  );
}

/** Content that need not be read, such as earlier decisions. Its folds open with the others. */
export function Optional({ children }: { children: ComponentChildren }) {
  return <IsOptional.Provider value={true}>{children}</IsOptional.Provider>;
}

/** Returns the tracker of shown fields and values, if there is one. */
function useShownTracker(): ShownTracker | undefined {
  const shown = useContext(Shown);
  return useContext(IsOptional) ? undefined : shown;
}

/** The present, in milliseconds since 1970. */
export function useNow(): number {
  return useContext(Now);
}

/** The reader's language and time zone, for code outside components. */
export const pageReader: ValueReader = { locale: readLocale() };

/* Some browsers have a language such as `en-US@posix`, which can't format anything. */
function readLocale(): string {
  try {
    return Intl.getCanonicalLocales(navigator.language)[0] ?? 'en';
  } catch {
    return 'en';
  }
}

/** Returns the reader's language and time zone. */
export function useReader(): ValueReader {
  return pageReader;
}

/** A field whose end a person has to reach. */
export function Field({ name, label, children }: FieldProps) {
  const shown = useShownTracker();
  const [holds, setHolds] = useState(0);
  const hold = useMemo(
    () => () => {
      setHolds((count) => count + 1);
      return () => setHolds((count) => count - 1);
    },
    [],
  );
  const end = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => shown?.addField(name, { label }), [shown, name, label]);
  useLayoutEffect(
    () => (holds > 0 || end.current === null ? undefined : shown?.placeEnd(name, end.current)),
    [shown, name, holds],
  );
  return (
    <>
      <Hold.Provider value={hold}>{children}</Hold.Provider>
      <span className="end" aria-hidden="true" ref={end} />
    </>
  );
}

/** A field that is missing, so that nobody can have read it. */
export function MissingField({ name, label, children }: FieldProps) {
  const shown = useShownTracker();
  useLayoutEffect(() => shown?.addField(name, { label }), [shown, name, label]);
  return <p className="warning">{children}</p>;
}

interface FieldProps {
  /** Unique in the shown content. */
  name: string;
  /** Safe to show. */
  label: string;
  children: ComponentChildren;
}

/** Keeps the end of the enclosing field from counting while `isHeld`, as its content is not there yet. */
export function useHold(isHeld: boolean): void {
  const hold = useContext(Hold);
  useLayoutEffect(() => (isHeld ? hold() : undefined), [hold, isHeld]);
}

/** Counts a value that can't be shown. */
export function useHidden(name: string, isHidden: boolean): void {
  const shown = useShownTracker();
  useLayoutEffect(() => (isHidden ? shown?.addHidden(name) : undefined), [shown, name, isHidden]);
}

interface FoldProps {
  summary: ComponentChildren;
  /** True if it is open at first. */
  isOpen: boolean;
  /** The field in it, if its content must be read. */
  field?: { name: string; label: string };
  /** Its content, made when it is opened. */
  children: () => ComponentChildren;
}

/** Foldable content. The content of a closed fold does not count as shown. */
export function Fold({ summary, isOpen: isOpenAtFirst, field, children }: FoldProps) {
  const folds = useContext(Shown);
  const shown = useShownTracker();
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const [wasOpen, setWasOpen] = useState(isOpen);
  const start = useRef<HTMLDetailsElement>(null);
  const open = useMemo(
    () => () => {
      setOpen(true);
      setWasOpen(true);
    },
    [],
  );
  const { name, label } = field ?? {};
  useLayoutEffect(() => folds?.addFold(open), [folds, open]);
  useLayoutEffect(() => {
    if (name === undefined || label === undefined || start.current === null) return undefined;
    return shown?.addField(name, { label, open, start: start.current });
  }, [shown, name, label, open]);
  return (
    <details
      ref={start}
      open={isOpen}
      onToggle={({ currentTarget }) => (currentTarget.open ? open() : setOpen(false))}
    >
      <summary>{summary}</summary>
      {wasOpen && (field === undefined ? children() : <Field {...field}>{children()}</Field>)}
    </details>
  );
}

/** Computes a slow value for large content: `undefined` at first, so that the page is painted before. */
export function useAfterPaint<VALUE>(find: () => VALUE, isLarge: boolean, inputs: unknown[]) {
  const [late, setLate] = useState<{ value: VALUE }>();
  const early = useMemo(() => (isLarge ? undefined : { value: find() }), inputs);
  useEffect(() => {
    if (!isLarge) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => setLate({ value: find() }), 0);
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, inputs);
  return (early ?? late)?.value;
}
