/** nginx and HAProxy, as Debian packages them, with the configurations of docs/deployment.md, on free ports. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../helpers/listening.ts'
import { ROOT, type Running, start } from '../../helpers/program.ts'

export interface InFront {
	readonly url: string
	stop(): Promise<void>
}

/** The block under a heading of docs/deployment.md, which readers copy. */
export function recipe(heading: string, kind: string): string {
	const page = readFileSync(join(ROOT, 'docs/deployment.md'), 'utf8')
	const section = page.split(/^(?=##+ )/m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
	const [, block] = new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(section) ?? []
	if (block === undefined) throw new Error(`docs/deployment.md has no block ${kind} behind ${heading}`)
	return block
}

export const NGINX = '/usr/sbin/nginx'
export const HAPROXY = '/usr/sbin/haproxy'
export const hasProxies = existsSync(NGINX) && existsSync(HAPROXY)

/** nginx with these servers within `http`, in a temporary folder, in the foreground. */
export async function nginx(port: number, http: string): Promise<InFront> {
	const folder = folderFor('nginx')
	const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
		.map((name) => `${name}_temp_path ${folder}/${name};`)
		.join(' ')
	const config = `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 1024; }
http { access_log off; ${paths}
${http} }`
	writeFileSync(join(folder, 'nginx.conf'), config)
	return listening(port, folder, NGINX, [
		'-p',
		folder,
		'-e',
		join(folder, 'error.log'),
		'-c',
		join(folder, 'nginx.conf'),
	])
}

export async function haproxy(port: number, config: string): Promise<InFront> {
	const folder = folderFor('haproxy')
	writeFileSync(join(folder, 'haproxy.cfg'), config)
	return listening(port, folder, HAPROXY, ['-f', join(folder, 'haproxy.cfg')])
}

function folderFor(name: string): string {
	const folder = mkdtempSync(join(tmpdir(), `verbena-${name}-`))
	chmodSync(folder, 0o755)
	return folder
}

async function listening(port: number, cwd: string, program: string, args: string[]): Promise<InFront> {
	const running: Running = start({ program, args, cwd })
	const url = `http://127.0.0.1:${port}`
	const stop = async (): Promise<void> => {
		running.child.kill('SIGKILL')
		await running.ended
		rmSync(cwd, { recursive: true, force: true })
	}
	try {
		await until(async () => {
			if (running.child.exitCode !== null) throw new Error(`${program} has ended: ${running.output()}`)
			return await fetch(url).then(
				() => true,
				() => false,
			)
		}, `an answer of ${program}`)
	} catch (error) {
		await stop()
		throw error
	}
	return { url, stop }
}
