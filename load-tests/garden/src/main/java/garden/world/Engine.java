package garden.world;

import java.util.List;

/** A database server that is started for one run. */
interface Engine {

    int port();

    String user();

    /** The address at which a JDBC driver reaches the server at a port, such as that of a link. */
    String url(int port);

    /** The statements that create the tables and the function {@code tax(millis)}, which sleeps for that time. */
    List<String> schema();

    void stop();
}
