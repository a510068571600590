// Instants and durations, by the server's clock.
let offset = 0;

/** Notes the server's clock. @param {string | null} date The header `date` of an answer. */
export function noteServerDate(date) {
	const difference = date ? Date.parse(date) + 500 - Date.now() : NaN;
	if (Number.isFinite(difference)) offset = Math.abs(difference) < 2_000 ? 0 : difference;
}

/** Now, in milliseconds. */
export const now = () => Date.now() + offset;

/** An instant of the contract, in milliseconds with a fraction. @param {string | undefined} text */
export function instant(text) {
	if (!text) return NaN;
	const fraction = /\.\d{3}(\d*)/.exec(text)?.[1];
	return Date.parse(text) + (fraction ? Number(`0.${fraction}`) : 0);
}

/** A duration of the contract, such as `1.250s`, in milliseconds. @param {string | undefined} text */
export const span = (text) => (text ? Number(text.replace(/s$/, '')) * 1000 : NaN);

/** Milliseconds in words, such as `2.5 ms`, `1.3 s`, `4 min 10 s`. @param {number} ms */
export function lasting(ms) {
	if (!Number.isFinite(ms)) return '–';
	if (ms < 0.05) return '< 0.1 ms';
	if (ms < 10) return `${Math.round(ms * 10) / 10} ms`;
	if (ms < 1_000) return `${Math.round(ms)} ms`;
	if (ms < 60_000) return `${Number((ms / 1000).toFixed(Number(ms < 10_000)))} s`;
	const minutes = Math.floor(ms / 60_000);
	if (minutes < 60) return `${minutes} min${ms % 60_000 >= 1_000 ? ` ${Math.floor(ms / 1000) % 60} s` : ''}`;
	const hours = Math.floor(minutes / 60);
	return hours < 48 ? `${hours} h${minutes % 60 ? ` ${minutes % 60} min` : ''}` : `${Math.floor(hours / 24)} days`;
}

/** @param {number} ms */
export function ago(ms) {
	const passed = now() - ms;
	if (passed < 5_000) return 'just now';
	if (passed < 60_000) return `${Math.floor(passed / 1000)} s ago`;
	if (passed < 3_600_000) return `${Math.floor(passed / 60_000)} min ago`;
	if (passed < 48 * 3_600_000) return `${Math.floor(passed / 3_600_000)} h ago`;
	return new Date(ms).toLocaleDateString();
}

/** The exact instant in the reader's zone. @param {number} ms */
export const exact = (ms) => FORMAT.format(ms);
// Kept, since it takes longer to make one than to draw a row.
const FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' });

/** The time of day, to the millisecond. @param {number} ms */
export function clock(ms) {
	const at = new Date(ms);
	const two = (/** @type {number} */ part, width = 2) => String(part).padStart(width, '0');
	return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${two(at.getMilliseconds(), 3)}`;
}

/** The time of day, to the minute, with the date if that is another day's. @param {number} ms */
export const hour = (ms) => `${Math.abs(now() - ms) > 43_200_000 ? `${new Date(ms).toLocaleDateString()} ` :
	''}${clock(ms).slice(0, 5)}`;
