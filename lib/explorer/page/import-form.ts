/** The form that imports a file with records, or only checks it. Used by `actions.ts`. */
import type { OperationData } from '../page-data.ts'
import { type App, reasonOf } from './app.ts'
import { buttonForm } from './confirm.ts'
import { contentOf, messageOf, problemsIn } from './content.ts'
import { button, el, onSubmit } from './dom.ts'
import { progress, TYPES } from './export-list.ts'
import { plainText } from './fields.ts'
import { isRecord, type JsonValue } from './json-value.ts'
import { pathOf } from './path.ts'
import type { Outcome } from './submit.ts'
import { recordsOf } from './together.ts'

/** The form for a file with records, which can be checked before it is stored. */
export function importForm(app: App, { url = '' }: OperationData): HTMLElement {
	const form = buttonForm()
	const file = el('input', {
		...{ type: 'file', id: 'import-file', 'data-key': 'import file', accept: '.csv,.ndjson,.jsonl' },
	})
	const run = (mode: 'check' | 'store') => {
		const chosen = file.files?.[0]
		form.showProblems('', [])
		if (chosen !== undefined) return void importFile(app, url, chosen, mode, form.showProblems)
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
				{ class: 'hint' },
				'CSV with a line of names, or a JSON object in each line: .ndjson or .jsonl.',
			),
		),
		el(
			'div',
			{ class: 'form-foot' },
			el('button', { type: 'submit', class: 'primary', 'data-key': 'import' }, 'Import'),
			button('Check only', { class: 'small', 'data-key': 'check' }, () => run('check')),
		),
	)
	onSubmit(form.element, () => run('store'))
	return el('div', { class: 'aside' }, form.alert, form.element)
}

async function importFile(
	app: App,
	path: string,
	file: File,
	mode: 'check' | 'store',
	showProblems: (message: string, problems: ReturnType<typeof problemsIn>) => void,
): Promise<void> {
	const url = mode === 'check' ? `${path}?mode=check` : path
	const verb = mode === 'check' ? 'Checking' : 'Importing'
	const type = TYPES[file.name.toLowerCase().endsWith('.csv') ? 'csv' : 'ndjson']
	try {
		const outcome = await upload(app, url, file, { type, text: `${verb} ${file.name}…` })
		const { data } = contentOf(outcome)
		const records = recordsIn(data)
		const problems = problemsIn(data, outcome.status < 400 ? 'problems' : undefined)
		if (outcome.status >= 400 || problems.length > 0) {
			app.notify(mode === 'check' ? 'Checked.' : 'Nothing was imported.')
			if (problems.length === 0) return showProblems(messageOf(outcome), [])
			const first = problems.length < MOST_PROBLEMS ? '' : `, the first ${MOST_PROBLEMS}`
			return showProblems(`Something isn’t right yet. By line and field${first}:`, problems)
		}
		if (mode === 'check') return app.notify(`${records} could be imported.`)
		app.notify(`${records} imported.`)
		if (path.startsWith(pathOf(app.url))) await app.go(app.url, { push: false, keepsNotice: true })
	} catch (error) {
		app.notify('')
		showProblems(error instanceof Stopped ? 'Stopped. Look whether it was stored.' : reasonOf(error), [])
	}
}

/** As many as the server tells of. */
const MOST_PROBLEMS = 100

function recordsIn(data: JsonValue | undefined): string {
	return recordsOf(Number(isRecord(data) ? plainText(data.get('records') ?? null) : 0))
}

class Stopped extends Error {}

/** Sends a file. Not by `fetch`, which doesn't tell how much was sent. @throws Stopped; TypeError without an answer */
async function upload(
	app: App,
	url: string,
	file: File,
	{ type, text }: { type: string; text: string },
): Promise<Outcome> {
	const headers = { Accept: 'application/json', 'Content-Type': type }
	const request = await app.session.request(url, { method: 'POST', headers, body: file })
	return new Promise((resolve, reject) => {
		const sending = new XMLHttpRequest()
		const show = progress(app, text, () => sending.abort())
		sending.upload.addEventListener('progress', ({ loaded, total }) => {
			show(
				loaded < total ? `${Math.floor((100 * loaded) / total)} % sent` : 'all of it is sent, and looked at',
			)
		})
		sending.addEventListener('load', () => {
			const { status, statusText: reason, responseText: body } = sending
			resolve({ status, reason, body, location: undefined })
		})
		sending.addEventListener('error', () => reject(new TypeError('no answer')))
		sending.addEventListener('abort', () => reject(new Stopped()))
		sending.open(request.method, request.url)
		for (const [name, value] of request.headers) sending.setRequestHeader(name, value)
		sending.send(file)
	})
}
