/* The memory to request for a task whose input is known. See right_size_input.h. */
#include "analysis/tune/right_size_input.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/tune/right_size.h"

#define NEAREST 20
#define TASKS_LEAST 5
#define REACH 10.0       /* beyond the largest input */
#define INPUTS_RATIO 2.0 /* that of the largest to the smallest, to look beyond */
#define NEED_MOST 2.0    /* times the largest need, within the inputs that were seen */
#define NONE SIZE_MAX

/* All tasks, by input. */
struct inputs {
	const struct right_size_point *points;
	size_t count, most; /* index of the largest need */
	double mean_bytes, squares, second_bytes, least_bytes;
	double spread_waste, line_waste; /* by which the rules are weighed */
};

static int compare_inputs(const void *left, const void *right)
{
	const struct right_size_point *a = left, *b = right;

	return a->input_bytes < b->input_bytes ? -1 : a->input_bytes > b->input_bytes;
}

static struct inputs inputs_make(const struct right_size_point *points, size_t count)
{
	struct inputs inputs = {.points = points, .count = count, .least_bytes = points[0].memory_bytes};

	for (size_t i = 0; i < count; i++) {
		double need = points[i].memory_bytes, deviation = need - inputs.mean_bytes;

		inputs.mean_bytes += deviation / (double)(i + 1);
		inputs.squares += deviation * (need - inputs.mean_bytes);
		inputs.least_bytes = fmin(inputs.least_bytes, need);
		if (i > 0 && need > points[inputs.most].memory_bytes) {
			inputs.second_bytes = points[inputs.most].memory_bytes;
			inputs.most = i;
		} else if (i > 0) {
			inputs.second_bytes = fmax(inputs.second_bytes, need);
		}
	}
	return inputs;
}

static double most_bytes(const struct inputs *inputs, size_t left_out)
{
	return left_out == inputs->most ? inputs->second_bytes : inputs->points[inputs->most].memory_bytes;
}

static double largest_input(const struct inputs *inputs, size_t left_out)
{
	return inputs->points[inputs->count - (left_out == inputs->count - 1 ? 2 : 1)].input_bytes;
}

/* ---- the rules ------------------------------------------------------------------------- */

static double spread_request(const struct inputs *inputs, size_t left_out)
{
	double count = (double)inputs->count, squares = inputs->squares;

	if (left_out != NONE) {
		double deviation = inputs->points[left_out].memory_bytes - inputs->mean_bytes;

		squares = fmax(squares - deviation * deviation * count / (count - 1), 0);
		count--;
	}
	return right_size_request(most_bytes(inputs, left_out), squares, count, 1 / sqrt(count));
}

/* Returns the index of the first task whose input is not smaller. */
static size_t input_find(const struct inputs *inputs, double input_bytes)
{
	size_t low = 0, high = inputs->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (inputs->points[middle].input_bytes < input_bytes)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Copies the tasks whose inputs are nearest. Returns their number. */
static size_t nearest_copy(const struct inputs *inputs, size_t left_out, double input_bytes,
			   struct right_size_point nearest[NEAREST])
{
	const struct right_size_point *points = inputs->points;
	size_t end = input_find(inputs, input_bytes), begin = end, count = 0;

	while (count < NEAREST && (begin > 0 || end < inputs->count)) {
		bool is_below = end == inputs->count || (begin > 0 && input_bytes - points[begin - 1].input_bytes <
									      points[end].input_bytes - input_bytes);
		size_t next = is_below ? --begin : end++;

		if (next != left_out)
			nearest[count++] = points[next];
	}
	return count;
}

/* A line by least squares, which never falls. */
struct line {
	double input_bytes, memory_bytes; /* means */
	double inputs_squares, slope;
};

static struct line line_fit(const struct right_size_point *points, size_t count)
{
	struct line line = {0};
	double products = 0;

	for (size_t i = 0; i < count; i++) {
		line.input_bytes += points[i].input_bytes / (double)count;
		line.memory_bytes += points[i].memory_bytes / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		double deviation = points[i].input_bytes - line.input_bytes;

		line.inputs_squares += deviation * deviation;
		products += deviation * (points[i].memory_bytes - line.memory_bytes);
	}
	line.slope = line.inputs_squares > 0 ? fmax(products / line.inputs_squares, 0) : 0;
	return line;
}

static double line_at(const struct line *line, double input_bytes)
{
	return line->memory_bytes + line->slope * (input_bytes - line->input_bytes);
}

/* Of the line at an input, in standard deviations of the residuals. */
static double line_error(const struct line *line, size_t count, double input_bytes)
{
	double deviation = input_bytes - line->input_bytes;

	return sqrt(1 / (double)count + (line->slope > 0 ? deviation * deviation / line->inputs_squares : 0));
}

/* The most that a line may request: needs are taken to grow no faster than the input. */
static double line_most(const struct inputs *inputs, size_t left_out, double input_bytes)
{
	double growth = input_bytes / largest_input(inputs, left_out), spread = spread_request(inputs, left_out);

	return growth > 1 ? growth * spread : fmax(NEED_MOST * most_bytes(inputs, left_out), spread);
}

/* The rule of right_size.h for the residuals of a line. */
static double line_request(const struct inputs *inputs, size_t left_out, double input_bytes)
{
	struct right_size_point nearest[NEAREST];
	size_t count = nearest_copy(inputs, left_out, input_bytes, nearest);
	struct line line = line_fit(nearest, count);
	double squares = 0, largest = 0, bytes;

	for (size_t i = 0; i < count; i++) {
		double residual = nearest[i].memory_bytes - line_at(&line, nearest[i].input_bytes);

		squares += residual * residual;
		largest = fmax(largest, residual);
	}
	bytes = right_size_request(fmax(line_at(&line, input_bytes), 0) + largest, squares, (double)count,
				   line_error(&line, count, input_bytes));
	return fmax(fmin(bytes, line_most(inputs, left_out, input_bytes)), inputs->least_bytes);
}

/* ---- their mean ------------------------------------------------------------------------ */

/* Of an attempt with that request; one that fails is wasted whole, and the next requests twice as much. */
static double wasted(double request_bytes, double need_bytes)
{
	double waste = 0;

	for (; request_bytes < need_bytes; request_bytes *= 2)
		waste += request_bytes;
	return waste + request_bytes - need_bytes;
}

/* Weighed by the inverse square of what each wasted. What a task that is left out would have wasted does not count. */
static double request(const struct inputs *inputs, size_t left_out, double input_bytes)
{
	double spread = spread_request(inputs, left_out), line = line_request(inputs, left_out, input_bytes);
	double spread_waste = inputs->spread_waste, line_waste = inputs->line_waste, line_share;

	if (input_bytes > largest_input(inputs, left_out))
		line = fmax(line, spread);
	if (left_out != NONE) {
		spread_waste -= wasted(spread, inputs->points[left_out].memory_bytes);
		line_waste -= wasted(line, inputs->points[left_out].memory_bytes);
	}
	line_share = spread_waste * spread_waste / (spread_waste * spread_waste + line_waste * line_waste);
	return spread + line_share * (line - spread);
}

/* Weighs the rules. */
static void weigh(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++) {
		const struct right_size_point *point = &inputs->points[i];

		inputs->spread_waste += wasted(spread_request(inputs, i), point->memory_bytes);
		inputs->line_waste += wasted(line_request(inputs, i, point->input_bytes), point->memory_bytes);
	}
}

static size_t left_out_failed(const struct inputs *inputs)
{
	size_t failed = 0;

	for (size_t i = 0; i < inputs->count; i++)
		failed += request(inputs, i, inputs->points[i].input_bytes) < inputs->points[i].memory_bytes;
	return failed;
}

static enum right_size_input basis_find(const struct right_size_point *points, size_t count, double input_bytes)
{
	double largest;

	if (count < TASKS_LEAST)
		return RIGHT_SIZE_INPUT_FEW;
	largest = points[count - 1].input_bytes;
	if (input_bytes > REACH * largest)
		return RIGHT_SIZE_INPUT_TOO_FAR;
	if (input_bytes > largest && largest < INPUTS_RATIO * points[0].input_bytes)
		return RIGHT_SIZE_INPUT_ALIKE;
	return input_bytes > largest ? RIGHT_SIZE_INPUT_LARGER : RIGHT_SIZE_INPUT_SEEN;
}

struct right_size_for_input right_size_for_input(struct right_size_point *points, size_t count, double input_bytes)
{
	struct right_size_for_input ret = {.memory_bytes = NAN, .task_count = count};
	struct inputs inputs;

	qsort(points, count, sizeof(*points), compare_inputs);
	ret.basis = basis_find(points, count, input_bytes);
	if (ret.basis >= RIGHT_SIZE_INPUT_FEW)
		return ret;
	inputs = inputs_make(points, count);
	weigh(&inputs);
	ret.left_out_failed_count = left_out_failed(&inputs);
	ret.memory_bytes = request(&inputs, NONE, input_bytes);
	return ret;
}
