/**
 * The signature base of RFC 9421 §2.5: what is signed of a request, as text. Built by the server from what came
 * in, and by the client from what it is about to send.
 */
import type { BareItem } from '../structured/bare-item.ts'
import type { InnerList, Item } from '../structured/fields.ts'
import { innerListTextOf, itemText } from '../structured/text.ts'
import type { RequestComponents } from './component.ts'

/**
 * Most components of one signature. Each may stand for a header of its own; without a bound, who knows no key
 * could let us search thousands of lines thousands of times.
 */
export const MAX_COMPONENTS = 64

/**
 * The lines that are signed, from an inner list of component identifiers with the signature's parameters.
 *
 *     "@method": POST
 *     "@authority": example.com
 *     "@signature-params": ("@method" "@authority");created=1618884473;keyid="k1"
 *
 * @throws RangeError that says why, where RFC 9421 §2.5 demands that there is no base
 */
export function signatureBase(components: RequestComponents, covered: InnerList): string {
	if (covered.items.length > MAX_COMPONENTS)
		throw new RangeError(`more than ${MAX_COMPONENTS} components are covered`)
	const identities: string[] = []
	const identifiers: string[] = []
	let base = ''
	for (const item of covered.items) {
		const name = componentName(item)
		const identifier = itemText(item)
		identifiers.push(identifier)
		const identity = item.parameters.size < 2 ? identifier : identityOf(item)
		if (identities.includes(identity)) throw new RangeError('a component is covered twice')
		identities.push(identity)
		const value = components.value(name, item.parameters)
		// A line break in a value could pass for a further line (RFC 9421 §7.5.5).
		if (!/^[\x20-\x7e\t]*$/.test(value)) throw new RangeError(`the value of ${name} is not ASCII`)
		base += `${identifier}: ${value}\n`
	}
	return `${base}"@signature-params": ${innerListTextOf(identifiers, covered.parameters)}`
}

/** A component identifier's name: a string (RFC 9421 §2). @throws RangeError */
export function componentName({ value }: Item): string {
	if (value.type === 'string') return value.value
	throw new RangeError('a component identifier is no string')
}

/** The order of its parameters doesn't make an identifier another one (RFC 9421 §2). */
function identityOf(item: Item): string {
	const sorted = [...item.parameters].sort(([a], [b]) => (a < b ? -1 : 1))
	return itemText({ value: item.value, parameters: new Map<string, BareItem>(sorted) })
}
