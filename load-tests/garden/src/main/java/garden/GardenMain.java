package garden;

import garden.run.Faults;
import garden.shop.ShopApplication;
import java.util.Arrays;

/** Starts the shop or, without {@code shop} as the first argument, the program that plants faults into it. */
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
