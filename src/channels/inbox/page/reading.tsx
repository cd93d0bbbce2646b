import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DetailHandle, ShownState } from './shown-state.ts';
import { ShownTracker } from './shown-tracker.ts';
import type { ValueReader } from './format-value.ts';

/** What counts what is shown. Absent where nothing does, as in a form. */
const Shown = createContext<ShownTracker | undefined>(undefined);
/** Whether what is inside need not be read. */
const IsOptional = createContext(false);
/** The present, in milliseconds since 1970. In a context of its own, as it changes often and few read it. */
const Now = createContext(0);
/** Keeps the end of the field around from counting until what it returns is called. */
const Hold = createContext<() => () => void>(() => () => undefined);

interface ReadingProps {
  now: number;
  onShown: (shown: ShownState) => void;
  handle?: ((handle: DetailHandle) => void) | undefined;
  children: ComponentChildren;
}

/** What a person reads: which of its fields they have reached the end of is told to `onShown`. */
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

/** What need not be read, such as what was decided before. Its folds open with the others. */
export function Optional({ children }: { children: ComponentChildren }) {
  return <IsOptional.Provider value={true}>{children}</IsOptional.Provider>;
}

/** What counts that fields and values were shown; `undefined` if nothing does. */
function useShownTracker(): ShownTracker | undefined {
  const shown = useContext(Shown);
  return useContext(IsOptional) ? undefined : shown;
}

/** The present, in milliseconds since 1970. */
export function useNow(): number {
  return useContext(Now);
}

/** Who reads, for what is no component. */
export const pageReader: ValueReader = { locale: readLocale() };

/* Some browsers have a language such as `en-US@posix`, for which nothing can be formatted. */
function readLocale(): string {
  try {
    return Intl.getCanonicalLocales(navigator.language)[0] ?? 'en';
  } catch {
    return 'en';
  }
}

/** Who reads. */
export function useReader(): ValueReader {
  return pageReader;
}

/** A field, which a person has to reach the end of. */
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

/** A field that is not here, so that nobody can have read it. */
export function MissingField({ name, label, children }: FieldProps) {
  const shown = useShownTracker();
  useLayoutEffect(() => shown?.addField(name, { label }), [shown, name, label]);
  return <p className="warning">{children}</p>;
}

interface FieldProps {
  /** Unique in what is read. */
  name: string;
  /** Safe to show. */
  label: string;
  children: ComponentChildren;
}

/** Keeps the end of the field around from counting while `isHeld`, as its content is not there yet. */
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
  /** Whether it is open at first. */
  isOpen: boolean;
  /** The field that it has, if what is in it must be read. */
  field?: { name: string; label: string };
  /** What is in it, made when it is opened. */
  children: () => ComponentChildren;
}

/** What can be folded. What is in a closed fold was not shown. */
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

/** A value that takes long to find, for what is large: `undefined` at first, so that the page is painted before. */
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
