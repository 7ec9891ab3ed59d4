/** Code of an application, as seen in stacks. */
package shop;
