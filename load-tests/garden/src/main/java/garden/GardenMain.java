package garden;

import garden.run.Faults;
import garden.shop.ShopApplication;
import java.util.Arrays;

/**
 * Starts the program that injects faults into the shop application. If the first argument is {@code shop}, starts the
 * shop application itself instead.
 */
public final class GardenMain {

    private GardenMain() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0 && arguments[0].equals("shop")) {
            ShopApplication.main(Arrays.copyOfRange(arguments, 1, arguments.length));
        } else {
            Faults.main(arguments);
        }
    }
}
