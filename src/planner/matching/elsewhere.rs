//! Words of what people ask any assistant: the weather, meals, travel, health, games, code. Where no tool has such a
//! word, a question with one is hardly about a tool.

use std::{collections::HashSet, sync::LazyLock};

use super::words::stem;

const WORDS: &str = "weather rain sunny snow temperature umbrella storm humid degrees \
    recipe cook bake boil dinner lunch breakfast meal food eat drink pizza cake bread soup curry coffee tea wine beer \
    restaurant calorie diet vegetable fruit egg milk chicken rice \
    flight hotel airport ticket train taxi passport visa vacation holiday trip travel museum beach tourist luggage \
    route traffic nearby \
    doctor dentist hospital medicine pill vaccine symptom headache pain knee fever allergy sleep exercise workout gym \
    pregnant therapy tooth \
    movie film song music album band concert actor singer book novel poem joke riddle lyrics guitar piano podcast \
    episode celebrity \
    football cricket soccer tennis basketball player league tournament olympics \
    python javascript java code loop bug compile html css sql regex array browser laptop phone \
    wifi printer password software keyboard battery website email inbox alarm timer reminder \
    calendar meeting appointment birthday \
    translate grammar spell essay resume homework exam school college university teacher student \
    war king queen president minister election country city population planet moon galaxy gravity \
    atom molecule photosynthesis dinosaur animal dog cat bird fish elephant flower garden tree \
    equation algebra geometry calculus root triangle multiply divide kilometre mile inch celsius \
    wedding shirt shoe dress hair makeup perfume \
    kitchen bedroom bathroom boiler furniture sofa lamp window carpet laundry plumber landlord tenant \
    apartment rent mortgage \
    car bike tyre petrol mileage \
    loan demat salary wage pension \
    bitcoin ethereum crypto cryptocurrency dogecoin solana blockchain nft lottery casino \
    passport licence visa parcel package recharge \
    horoscope zodiac dream religion philosophy ghost alien robot \
    baby toddler wedding girlfriend boyfriend marriage divorce \
    photo camera wallpaper painting ceiling \
    knit sew chess puzzle crossword";

static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| WORDS.split_whitespace().map(stem).collect());

/// Whether a term is of such a thing.
pub(crate) fn is_elsewhere(term: &str) -> bool {
    STEMS.contains(term)
}
