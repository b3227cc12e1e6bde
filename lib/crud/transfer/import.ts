/**
 * `import`: `POST /import` with records as lines of JSON or as CSV, all or nothing. Each is checked as the body of a single
 * create while the body arrives. When all have arrived and are valid, they are stored in batches, in one transaction.
 * `?mode=check` reports the problems by line, and stores nothing. Called by `operations.ts`.
 */
import { isRestError, RestError } from '../../base/error.ts'
import type { Milliseconds } from '../../base/time.ts'
import type { StreamingLimits } from '../../exchange/action.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { exchangeOf } from '../../handler/view.ts'
import { invalid, MAX_PROBLEMS } from '../../validate/problem.ts'
import type { Detail } from '../../wire/codes.ts'
import { NOTHING } from '../fields.ts'
import { addProblems, placed } from '../many/check-list.ts'
import { createChecked } from '../many/create.ts'
import type { CrudPlan } from '../plan.ts'
import { badQuery, unknownName } from '../query-values.ts'
import { resolveScope, translateModelErrors } from '../reads.ts'
import { NO_INCLUDE } from '../relations/parse-include.ts'
import type { Scope } from '../scope.ts'
import { together } from '../transaction.ts'
import { beginState, type CrudView, FACTS } from '../view.ts'
import type { BodyReader, WrittenValues } from '../write.ts'
import { type Format, importFormat } from './format.ts'
import { type Row, rowsOf } from './read-rows.ts'
import type { Slots } from './slots.ts'
import { Spool, type Spooled } from './spool.ts'

interface Imported {
	readonly records: number
	/** Only for a check: the problems; `17.title` is in line 17. */
	readonly problems?: readonly Detail[]
	/** Only for a check: there may be more problems, because the lines after the last one weren't read. */
	readonly more?: true
}

/** 256 MiB, and 10 minutes. */
export const IMPORT_LIMITS: StreamingLimits = { maxBody: 268_435_456, handlerTimeout: 600_000 }
/** Maximum number of records in a batch, so that no statement is too long. */
const MAX_BATCH = 1_000

/** Serves an import. */
export async function importAll(view: CrudView, bodies: BodyReader, slots: Slots): Promise<Imported> {
	const exchange = exchangeOf(view, 'import')
	const { plan } = view[FACTS]
	const isCheck = isCheckOnly(plan, exchange)
	const format = importFormat(exchange)
	const release = slots.take(exchange)
	const spool = new Spool(batchOf(view))
	try {
		const scope = await resolveScope(view, 'create')
		const { records, problems, isWhole } = await readAll(view, { bodies, format, scope, spool })
		if (problems.length === 0) await store(view, { scope, spool, isCheck, problems })
		if (isCheck) return { records, problems, ...(isWhole ? {} : { more: true as const }) }
		if (problems.length > 0) throw invalid(problems)
		view.status(201)
		return { records }
	} finally {
		release()
		await spool.close()
	}
}

function isCheckOnly({ ignoreQuery }: CrudPlan, exchange: Exchange): boolean {
	const { mode, ...others } = exchange.query().last
	const unknown = Object.keys(others).find((name) => !ignoreQuery.has(name))
	if (unknown !== undefined) throw unknownName(unknown, 'is not a parameter of an import: it takes', ['mode'])
	if (mode !== undefined && mode !== 'check') throw badQuery('mode', 'in', 'must be check')
	return mode === 'check'
}

/** An overridden `createMany()` gets no more records than from other requests. */
function batchOf(view: CrudView): number {
	const { plan, overridden } = view[FACTS]
	return overridden.has('createMany') ? Math.min(plan.maxBatch, MAX_BATCH) : MAX_BATCH
}

interface Reading {
	readonly bodies: BodyReader
	readonly format: Format
	readonly scope: Scope
	readonly spool: Spool
}

/** The number of records that were read, and their problems. */
interface Read {
	readonly records: number
	readonly problems: Detail[]
	/** Whether the body was read to its end. */
	readonly isWhole: boolean
}

/** Reads and checks all records, until there are too many problems. */
async function readAll(view: CrudView, { bodies, format, scope, spool }: Reading): Promise<Read> {
	const { plan } = view[FACTS]
	const exchange = exchangeOf(view, 'import')
	const { app, action, body } = exchange
	const problems: Detail[] = []
	let records = 0
	const limits = {
		maxLine: Math.min(app.maxBody, MAX_LINE),
		maxBytes: action?.streaming?.maxBody ?? IMPORT_LIMITS.maxBody,
	}
	const common = {
		plan,
		kind: 'create',
		isText: format === 'csv',
		isExact: true,
		scope,
		id: undefined,
	} as const
	const read = (given: Readonly<Record<string, unknown>>) => bodies.read({ ...common, body: given })
	try {
		for await (const { rows, bytes } of rowsOf(format, plan, inTime(exchange, body.stream()), limits)) {
			const valid: Spooled[] = []
			for (const row of rows) {
				if ('isLikeEnd' in row) {
					if ((await checked(row, [], read)) !== undefined) problems.push(ambiguous(row))
					continue
				}
				if (records++ >= plan.maxImport) throw tooMany(plan)
				const values = await checked(row, problems, read)
				if (values !== undefined) valid.push([row.line, values])
				if (problems.length >= MAX_PROBLEMS)
					return { records, problems: problems.slice(0, MAX_PROBLEMS), isWhole: false }
			}
			if (problems.length === 0) await spool.add(valid, bytes)
		}
	} catch (error) {
		addProblems(problems, error)
		return { records, problems, isWhole: false }
	}
	return { records, problems, isWhole: true }
}

function tooMany({ maxImport }: CrudPlan): RestError {
	return invalid([{ field: '', code: 'max', message: `The body must have at most ${maxImport} records` }])
}

/** The problem of a line that ends an export of as many records, and that is valid as a record, too. */
function ambiguous({ line }: Row): Detail {
	const message =
		'may be a record or the end of an export: delete the line, or write a record with a space, as {"done": 1}'
	return { field: String(line), code: 'ambiguous', message }
}

/** Maximum length of a line: no record is longer. */
const MAX_LINE = 67_108_864

/** The values of a record; `undefined` if a problem was noted. */
async function checked(
	row: Row,
	problems: Detail[],
	read: (body: Readonly<Record<string, unknown>>) => WrittenValues | Promise<WrittenValues>,
): Promise<WrittenValues | undefined> {
	if ('problem' in row) {
		problems.push({ field: String(row.line), ...row.problem })
		return undefined
	}
	try {
		return await read(row.body)
	} catch (error) {
		return addProblems(problems, placed(error, row.line))
	}
}

/** The bytes of the body. Each chunk must arrive within `bodyTimeout`, and all of them within `handlerTimeout`. */
async function* inTime(exchange: Exchange, stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	const { app, action } = exchange
	const { clock } = app.deadlines
	const end: Milliseconds = clock() + (action?.streaming?.handlerTimeout ?? IMPORT_LIMITS.handlerTimeout)
	const wait = () => exchange.setDeadline(Math.min(app.bodyTimeout, end - clock()), 'request_timeout')
	wait()
	for await (const chunk of stream) {
		exchange.setDeadline(end - clock(), 'unavailable')
		yield chunk
		wait()
	}
	exchange.setDeadline(end - clock(), 'unavailable')
}

/** Thrown to roll back a check. */
class Checked extends Error {}

interface Storing {
	readonly scope: Scope
	readonly spool: Spool
	readonly isCheck: boolean
	/** In a check, the problem that the database finds is added. */
	readonly problems: Detail[]
}

/** Stores all records, or, in a check, lets the database check them. @throws RestError as `createMany`, with lines */
async function store(view: CrudView, { scope, spool, isCheck, problems }: Storing): Promise<void> {
	const { overridden, plan } = view[FACTS]
	const isOverridden = overridden.has('create') || overridden.has('createMany')
	// An override may do more than change the database, and a rollback wouldn't undo that.
	if (isCheck && isOverridden) return
	beginState(view, { selection: isOverridden ? plan.selections.all : NOTHING, include: NO_INCLUDE })
	const signal = exchangeOf(view, 'import').signal()
	const work = async () => {
		for await (const batch of spool.batches()) {
			signal.throwIfAborted()
			await storeBatch(view, scope, batch)
		}
		// Not left to the commit, which a check never reaches.
		await translateModelErrors(view, 'createMany', () => view[FACTS].transaction?.checkDeferred(), scope)
		if (isCheck) throw new Checked()
	}
	try {
		await together(view, work)
	} catch (error) {
		if (!isCheck || !(error instanceof Checked || isRestError(error))) throw error
		if (error instanceof Checked) return
		if (error.details === undefined || error.status >= 500) throw error
		problems.push(...error.details)
	}
}

async function storeBatch(view: CrudView, scope: Scope, batch: readonly Spooled[]): Promise<void> {
	const records = batch.map(([, values]) => values)
	try {
		await createChecked(view, scope, records)
	} catch (error) {
		throw atLine(error, batch)
	}
}

/** The error of a record with its line in place of its index: `3.title` → `17.title`. */
function atLine(error: unknown, batch: readonly Spooled[]): unknown {
	if (!isRestError(error)) return error
	const { code, status, message, headers, details = [] } = error
	const index = /^\d+(?=\.|$)/.exec(details[0]?.field ?? '')?.[0]
	const [line] = batch[Number(index)] ?? []
	if (index === undefined || line === undefined) return error
	const relined = (text: string) =>
		text.startsWith(index) ? `${line}${text.slice(index.length)}` : `${line}: ${text}`
	return new RestError(code ?? status, relined(message), {
		...{ headers, cause: error.cause ?? error },
		details: details.map((one) => ({ ...one, field: relined(one.field) })),
	})
}
