/* The smallest program, for exec storms; linked dynamically and statically. */
int main(void)
{
	return 0;
}
