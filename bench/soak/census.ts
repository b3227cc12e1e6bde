/** What the objects of a program take, counted one by one in a snapshot of its heap: all but what V8 keeps for itself. */
import { readFileSync, rmSync } from 'node:fs'

/** The part of a snapshot that is read: nodes are rows of numbers in one list. */
interface Snapshot {
	readonly snapshot: { readonly meta: { readonly node_fields: string[]; readonly node_types: [string[]] } }
	readonly nodes: number[]
}

/** Compiled code and what hangs on it, such as the lists of code that depends on a shape: they grow for many minutes. */
const OWN_TO_V8: ReadonlySet<string> = new Set(['code', 'hidden', 'synthetic'])

/** Bytes of all objects, buffers and other memory that they hold; the file is taken away. */
export function census(file: string): number {
	try {
		// As V8 has written it.
		return sizeOf(JSON.parse(readFileSync(file, 'utf8')) as Snapshot)
	} finally {
		rmSync(file, { force: true })
	}
}

function sizeOf({ snapshot: { meta }, nodes }: Snapshot): number {
	const [width, type, size] = [
		meta.node_fields.length,
		meta.node_fields.indexOf('type'),
		meta.node_fields.indexOf('self_size'),
	]
	const isCounted = meta.node_types[0].map((name) => !OWN_TO_V8.has(name))
	let sum = 0
	for (let at = 0; at < nodes.length; at += width)
		if (isCounted[nodes[at + type] ?? 0] === true) sum += nodes[at + size] ?? 0
	return sum
}
