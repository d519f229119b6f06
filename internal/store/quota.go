package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// TakeQuota takes up to n of limit of the quota name in period and returns how many it got, 0 if none are left. Periods
// of a name follow each other as strings do; what was taken in an older one is forgotten. Where the clock went back,
// the newest period still holds.
func (db *DB) TakeQuota(ctx context.Context, name, period string, n, limit int) (got int, err error) {
	err = db.Write(ctx, func(tx *sql.Tx) error {
		newest, used, err := quota(tx.QueryRow(quotaQuery, name))
		if err != nil {
			return err
		}
		if period > newest {
			newest, used = period, 0
		}
		if got = max(0, min(n, limit-used)); got == 0 {
			return nil
		}
		_, err = tx.Exec(`INSERT INTO quotas (name, period, used) VALUES (?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET period = excluded.period, used = excluded.used`, name, newest, used+got)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("take quota %s: %w", name, err)
	}
	return got, nil
}

// ReturnQuota gives back n that were taken in period and not used.
func (db *DB) ReturnQuota(ctx context.Context, name, period string, n int) error {
	_, err := db.exec(ctx, "return quota "+name, `UPDATE quotas SET used = used - ? WHERE name = ? AND period = ? AND used >= ?`, n, name, period, n)
	return err
}

// QuotaUsed returns how many are taken of the quota name in period.
func (db *DB) QuotaUsed(ctx context.Context, name, period string) (int, error) {
	newest, used, err := quota(db.readers.QueryRowContext(ctx, quotaQuery, name))
	if err != nil {
		return 0, fmt.Errorf("read quota %s: %w", name, db.Explain(err))
	}
	if period > newest {
		used = 0
	}
	return used, nil
}

const quotaQuery = `SELECT period, used FROM quotas WHERE name = ?`

func quota(row *sql.Row) (period string, used int, err error) {
	err = row.Scan(&period, &used)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return period, used, err
}
