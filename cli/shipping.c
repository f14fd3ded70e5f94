/* What the shipper says of itself. See shipping.h. */
#include "cli/shipping.h"

#include <errno.h>
#include <string.h>

#include "cli/units.h"
#include "common/clock.h"
#include "common/shipping.h"

static int64_t lag_revs(const struct shipping_status *status)
{
	return status->store_rev > status->shipped_rev ? status->store_rev - status->shipped_rev : 0;
}

/* For how long the oldest row has waited that has not arrived; -1: nothing ever has. */
static int64_t lag_ns(const struct shipping_status *status)
{
	if (lag_revs(status) == 0)
		return 0;
	return status->shipped_unix_ns ? (int64_t)clock_unix_ns() - status->shipped_unix_ns : -1;
}

static void tell_lag(const struct shipping_status *status, bool is_running, struct findings *findings)
{
	bool failing = status->failing_since_unix_ns != 0;
	struct finding *finding;

	if (lag_revs(status) == 0)
		finding = findings_add(findings, FINDING_OK, "shipper",
				       "%s: everything has arrived; last success %s", status->target,
				       units_time(status->last_success_unix_ns));
	else
		finding = findings_add(findings, failing || !is_running ? FINDING_MISSING : FINDING_OK,
				       "shipper", "%s: %s changes wait, %s%s; last success %s", status->target,
				       units_count(lag_revs(status), false),
				       lag_ns(status) < 0 ? "none has ever arrived" : "for ",
				       lag_ns(status) < 0 ? "" : units_duration(lag_ns(status), false),
				       status->last_success_unix_ns
					       ? units_time(status->last_success_unix_ns) : "never");
	if (!is_running)
		finding_mend(finding, "tracer-shipper does not run: systemctl start tracer-shipper%s%s",
			     failing ? "; it last said: " : "", failing ? status->last_error : "");
	else if (failing)
		finding_mend(finding, "%s", status->last_error);
}

static void tell_set_aside(const struct shipping_status *status, const char *directory,
			   struct findings *findings)
{
	if (status->set_aside_row_count == 0)
		return;
	finding_mend(findings_add(findings, FINDING_LIMITED, "shipper",
				  "%s rows set aside, which the lake refused; %s of them given up for space",
				  units_count(status->set_aside_row_count, false),
				  units_count(status->set_aside_dropped_row_count, false)),
		     "the reasons are in %s/set-aside; tracer ship --from sends them again", directory);
}

static json_t *status_json(const struct shipping_status *status)
{
	json_t *json = json_object();

#define I(name) json_object_set_new(json, #name, json_integer(status->name));
#define T(name) json_object_set_new(json, #name, json_string(status->name));
	SHIPPING_STATUS(I, T)
#undef I
#undef T
	json_object_set_new(json, "lag_revs", json_integer(lag_revs(status)));
	json_object_set_new(json, "lag_ns",
			    lag_ns(status) < 0 ? json_null() : json_integer(lag_ns(status)));
	return json;
}

void shipping_check(const char *directory, bool is_running, struct findings *findings, json_t *json)
{
	int64_t rev = json_integer_value(json_object_get(json_object_get(json, "stream"), "rev"));
	struct shipping_status status;
	int error = shipping_status_read(directory, &status);

	if (error == 0 && rev > status.store_rev)
		status.store_rev = rev;
	json_object_set_new(json, "shipper", error == 0 ? status_json(&status) : json_null());
	if (error == -ENOENT) {
		findings_add(findings, FINDING_OK, "shipper", "not in use: what is stored stays on this host");
		return;
	}
	if (error < 0) {
		finding_mend(findings_add(findings, FINDING_LIMITED, "shipper", "%s/%s: %s", directory,
					  SHIPPING_STATUS_FILE,
					  error == -EBADMSG ? "damaged" : strerror(-error)),
			     "see the log: journalctl -u tracer-shipper");
		return;
	}
	tell_lag(&status, is_running, findings);
	tell_set_aside(&status, directory, findings);
	if (status.cloud[0])
		findings_add(findings, FINDING_OK, "cloud", "%s", status.cloud);
}
