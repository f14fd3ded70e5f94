/* The shortest program: what an exec storm starts, linked dynamically and statically. */
int main(void)
{
	return 0;
}
