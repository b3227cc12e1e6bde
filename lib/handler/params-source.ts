/** What `getParams` reads, and by which spec, where its caller doesn't say. */
import type { Exchange } from '../exchange/exchange.ts'
import type { CompiledSpec, ReadOptions } from '../validate/validate.ts'

const AS_JSON: ReadOptions = { coerce: false }
const AS_TEXT: ReadOptions = { coerce: true }

/** Fields, and how they are read. */
export interface ParamsSource {
	readonly from: Readonly<Record<string, unknown>>
	readonly options: ReadOptions
}

/**
 * The body, or the source that the method has named. Text stands for other kinds in whatever isn't JSON:
 * forms, multipart, the query.
 */
export function sourceOf(
	exchange: Exchange,
	source: Readonly<Record<string, unknown>> | undefined,
): ParamsSource {
	const { validator } = exchange.app
	const isBody = source === undefined || exchange.body.isPost(source)
	const from = isBody ? exchange.body.fields() : source
	const coerce = !isBody || exchange.body.isText()
	const ours = coerce ? AS_TEXT : AS_JSON
	const options = validator === undefined ? ours : { coerce, validator }
	return { from: coerce ? exchange.withLists(from) : from, options }
}

/** @throws TypeError when the handler declares no spec for its method */
export function declaredSpec({ action }: Exchange): CompiledSpec {
	if (action?.spec !== undefined) return action.spec
	const name = action?.name ?? 'method'
	throw new TypeError(`this.getParams() without argument needs specs: { ${name}: … } on the handler`)
}

/** What is read where no source is named: the query where a body has no meaning (RFC 9110 §9.3.1), else the body. */
export function usualSource(exchange: Exchange): Readonly<Record<string, unknown>> | undefined {
	return exchange.method === 'GET' || exchange.method === 'HEAD' ? exchange.query().last : undefined
}
