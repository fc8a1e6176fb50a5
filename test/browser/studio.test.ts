import { mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCRIPTED } from '../../scripts/stand-in.ts';
import { CHROMIUM_FLAGS, chromiumPath, type Demo, startDemo } from './demo-process.ts';

/** The demo in a real browser, as a person would use it: no key, no network, a scripted stand-in for the model. */

const executablePath = chromiumPath();
if (executablePath === null) {
  process.stderr.write(
    'SKIPPED: no Chromium. Install one, or name it in CHROMIUM_PATH, to test Studio in a browser.\n',
  );
}

const ARTIFACTS = resolve(import.meta.dirname, '..', '..', 'artifacts');
const PLAN = 'Plan a free day in San Francisco for me.';
const REVERSAL = 'My knee has healed, long walks are welcome again.';

describe.skipIf(executablePath === null)('Studio, in the demo', () => {
  let demo: Demo;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    mkdirSync(ARTIFACTS, { recursive: true });
    demo = await startDemo(4161);
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: CHROMIUM_FLAGS });
    page = await browser.newPage({ viewport: { width: 1500, height: 1150 }, colorScheme: 'light' });
    page.setDefaultTimeout(60_000);
  });

  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });

  const picture = (name: string) => page.screenshot({ path: join(ARTIFACTS, `${name}.png`) });

  /** Says something in the open chat and waits for the answer to it, the last on the page. */
  async function say(message: string, answer: RegExp): Promise<void> {
    const box = page.locator('[data-slot="composer-input"]');
    await box.fill(message);
    await box.press('Enter');
    await page.getByText(answer).last().waitFor();
  }

  it('lists the agent', async () => {
    await page.goto(`${demo.origin}/agents`);
    await page.getByText('Travel agent').first().waitFor();
    await picture('studio-agents');
  });

  it('says that a script answers, and shows the recall steps with their input and output', async () => {
    await page.goto(demo.studio);
    await page.getByText('How can I help you today?').waitFor();
    await say(PLAN, /What I went by.*early-nights/);
    const text = await page.textContent('body');
    expect(text).toContain('Short level walks');
    expect(text).toContain(SCRIPTED);
    expect(text).toContain('knee-injury');
    await page
      .getByRole('button', { name: /\d+ steps/ })
      .last()
      .click();
    await page.getByRole('button', { name: 'Recall', exact: true }).nth(1).click();
    await page.getByText('"query": "Are long walks welcome, and how is my knee?"').waitFor();
    await page.getByText('"id": "knee-injury"').first().waitFor();
    await picture('studio-recall');
  });

  it('shows the live reversal: remember names the memory it closes', async () => {
    await page.goto(demo.studio);
    await page.getByText('How can I help you today?').waitFor();
    await say(REVERSAL, /Closed, kept as history: knee-injury/);
    await page.getByRole('button', { name: 'Recall', exact: true }).first().click();
    await page.getByRole('button', { name: 'Remember', exact: true }).first().click();
    await page
      .getByText(/"supersedes": \[\s*"knee-injury"/)
      .first()
      .waitFor();
    await page.mouse.move(0, 0);
    await picture('studio-reversal');
    expect(statSync(join(ARTIFACTS, 'studio-reversal.png')).size).toBeLessThan(300_000);
  });

  it('plans another day after the reversal', async () => {
    await page.goto(demo.studio);
    await page.getByText('How can I help you today?').waitFor();
    await say(PLAN, /What I went by.*early-nights/);
    const text = await page.textContent('body');
    expect(text).toContain('On foot all day');
    expect(text).not.toContain('knee-injury');
    await picture('studio-after');
  });
});
