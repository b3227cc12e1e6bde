/** The form that imports a file with records, or only checks it. Used by `actions.ts`. */
import type { OperationData } from '../page-data.ts'
import { type App, keyOf, reasonOf } from './app.ts'
import { alertOf, type BodyForm } from './body-form.ts'
import { buttonForm } from './confirm.ts'
import { contentOf, messageOf, type Problem, problemsIn } from './content.ts'
import { button, el, onSubmit } from './dom.ts'
import { plainText } from './fields.ts'
import { isRecord } from './json-value.ts'
import type { Outcome } from './submit.ts'
import { recordsOf } from './together.ts'
import { beginTransfer, type Transfer, TYPES } from './transfer.ts'

export function importForm(app: App, operation: OperationData): HTMLElement {
	const form = buttonForm()
	const file = el('input', {
		...{ type: 'file', id: 'import-file', 'data-key': 'import file', accept: '.csv,.ndjson,.jsonl' },
		'aria-describedby': 'import-hint',
	})
	const key = keyOf(operation)
	const draft = app.drafts.get(key)?.file
	if (draft !== undefined) file.files = draft.files
	file.addEventListener('change', () => {
		app.drafts.set(key, {
			...{ mode: 'file', fields: new Map(), json: '' },
			file: { files: file.files, part: '' },
		})
	})
	const run = (isCheck: boolean) => {
		const [chosen] = file.files ?? []
		form.showProblems('', [])
		if (chosen !== undefined)
			return void importFile({ app, url: operation.url ?? '', file: chosen, isCheck, form })
		form.showProblems('Choose a file first.', [])
		file.focus()
	}
	form.element.append(
		el(
			'div',
			{ class: 'field' },
			el('label', { class: 'field-head', for: file.id }, 'File'),
			file,
			el(
				'p',
				{ class: 'hint', id: 'import-hint' },
				'CSV with a line of names, or a JSON object in each line: .ndjson or .jsonl.',
			),
		),
		el(
			'div',
			{ class: 'form-foot' },
			el('button', { type: 'submit', class: 'primary', 'data-key': 'import' }, 'Import'),
			button('Check only', { class: 'small', 'data-key': 'check' }, () => run(true)),
		),
	)
	onSubmit(form.element, () => run(false))
	return el('div', { class: 'aside' }, form.alert, form.element)
}

interface Import {
	readonly app: App
	/** `/herbs/import`. */
	readonly url: string
	readonly file: File
	readonly isCheck: boolean
	readonly form: BodyForm
}

async function importFile(given: Import): Promise<void> {
	const { app, url, file, isCheck, form } = given
	const transfer = beginTransfer(app, url, `${isCheck ? 'Checking' : 'Importing'} ${file.name}…`)
	if (transfer === undefined) return
	const { navigation } = app
	app.notify('')
	try {
		const { summary, problems, isStored } = resultOf(given, await upload(given, transfer))
		// If the form is gone, the notice also lists the problems.
		if (form.element.isConnected) {
			form.showProblems(problems.length === 0 || isStored ? '' : summary, problems)
			app.notify(problems.length === 0 || isStored ? summary : '')
		} else app.notify(summary, ...alertOf('', problems))
		if (!isStored || navigation !== app.navigation) return
		app.drafts.delete(keyOf({ method: 'POST', url }))
		await app.go(app.url, { push: false, keepsNotice: true })
	} catch (error) {
		app.notify(error instanceof NoAnswer ? error.message : reasonOf(error))
	} finally {
		transfer.end()
	}
}

interface Result {
	readonly summary: string
	readonly problems: readonly Problem[]
	readonly isStored: boolean
}

function resultOf({ isCheck }: Import, outcome: Outcome): Result {
	const { data } = contentOf(outcome)
	const { status } = outcome
	const count = isRecord(data) ? data.get('records') : undefined
	if (status < 300 && count !== undefined) {
		const records = recordsOf(Number(plainText(count)))
		const problems = problemsIn(data, 'problems')
		const summary = isCheck ? `${records} could be imported.` : `${records} imported.`
		if (problems.length === 0) return { summary, problems, isStored: !isCheck }
		const isPart = isRecord(data) && data.get('more') === true
		return {
			summary: `Something isn’t right yet, by line and field${isPart ? '; what follows was not read' : ''}:`,
			...{ problems, isStored: false },
		}
	}
	const isRefused = status >= 400 && status < 500
	const first = isCheck ? 'It could not be checked.' : isRefused ? 'Nothing was imported.' : UNKNOWN
	return { summary: `${first} ${messageOf(outcome)}`, problems: problemsIn(data), isStored: false }
}

const UNKNOWN = 'It may be imported, or not: look before you try again.'

/** There is no response; the message tells the user why. */
class NoAnswer extends Error {}

/** Sends the file, not by `fetch`, which has no upload progress. @throws NoAnswer */
async function upload({ app, url, file, isCheck }: Import, { signal, show }: Transfer): Promise<Outcome> {
	const type = TYPES[file.name.toLowerCase().endsWith('.csv') ? 'csv' : 'ndjson']
	const headers = { Accept: 'application/json', 'Content-Type': type }
	const request = await app.session.request(isCheck ? `${url}?mode=check` : url, {
		...{ method: 'POST', headers, body: file },
	})
	const sending = new XMLHttpRequest()
	let isSent = false
	sending.upload.addEventListener('progress', ({ loaded, total }) => {
		isSent = loaded === total
		show(isSent ? 'sent; waiting for the answer' : `${Math.floor((100 * loaded) / total)} % sent`)
	})
	signal.addEventListener('abort', () => sending.abort())
	const end = new Promise<string>((resolve) => {
		for (const name of ['load', 'error', 'abort']) sending.addEventListener(name, () => resolve(name))
	})
	sending.open(request.method, request.url)
	for (const [name, value] of request.headers) sending.setRequestHeader(name, value)
	sending.send(file)
	const how = await end
	const { status, statusText: reason, responseText: body } = sending
	if (how === 'load') return { status, reason, body, location: undefined }
	const after = isSent && !isCheck ? UNKNOWN : 'Nothing was imported.'
	if (how === 'abort') throw new NoAnswer(`${isCheck ? 'The check' : 'The import'} was stopped. ${after}`)
	// Browsers refuse a file that was changed after it was chosen.
	const isReadable = await file
		.slice(0, 1)
		.arrayBuffer()
		.then(
			() => true,
			() => false,
		)
	if (!isReadable) throw new NoAnswer(`${file.name} has changed since it was chosen: choose it again.`)
	throw new NoAnswer(`The server gave no answer. ${after}`)
}
