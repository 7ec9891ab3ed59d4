/** Classes that stand for application code in stack traces. */
package shop;
