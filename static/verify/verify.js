import "../respond/randomizer.js";
