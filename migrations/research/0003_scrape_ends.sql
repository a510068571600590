-- By when the scrape that a claim is for has ended: its deadline, which is brought forward when it ends earlier. So the scrape
-- of a process that was killed is under way until its deadline, and no longer. Those of earlier programs have ended.
ALTER TABLE scrapes ADD COLUMN ends_by INTEGER NOT NULL DEFAULT 0;
